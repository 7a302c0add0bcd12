// The rules of the static analysis: how serious each is, and what to do. A finding names one place that breaks one rule.

export type Severity = "error" | "warning"
export type Finding = {
  file: string
  line: number
  column: number
  rule: RuleName
  severity: Severity
  message: string
  fix: string
}

/** Reports a finding at an offset of the file. */
export type Report = (rule: RuleName, at: number, message: string, fix?: string) => void

const error = (fix: string) => ({ severity: "error", fix }) as const
const warning = (fix: string) => ({ severity: "warning", fix }) as const

export const rules = {
  "file/unreadable": error("Check that the file exists and may be read."),
  "file/too-large": error("Split the file."),
  "file/not-utf8": error("Save the file as UTF-8."),
  "file/too-many-findings": warning("Repair what is listed, then run the analysis again."),
  "html/unclosed": error("Add the end tag."),
  "html/stray-end": error("Remove the end tag, or add the start tag that it belongs to."),
  "html/cut": error("Finish the tag."),
  "html/too-deep": error("Nest fewer elements; browsers flatten what is deeper."),
  "html/self-closing": warning("Write a start tag and an end tag."),
  "html/duplicate-attribute": error("Remove one; browsers use the first."),
  "html/unknown-element": warning("Correct the name; the name of a custom element contains a hyphen."),
  "css/unclosed": error("Add the closing brace."),
  "script/syntax": error("Correct the syntax."),
  "token/undefined": error("Define the custom property, or give var() a fallback."),
  "token/literal-color": warning("Use a custom property, such as var(--color-text)."),
  "token/literal-size": warning("Use a custom property, such as var(--space-2)."),
  "style/inline": warning("Move the declarations to a class."),
  "style/important": warning("Raise the specificity of the selector, or use a layer."),
  "style/id-selector": warning("Style a class; an id can be used once."),
  "style/no-focus": error("Style :focus-visible with an outline that can be seen."),
  "style/obsolete": warning("Use CSS."),
  "a11y/control-name": error("Add text, a label or aria-label."),
  "a11y/image-alt": error('Add alt, or alt="" if the image only decorates.'),
  "a11y/heading-order": warning("Use the next level."),
  "a11y/role": error("Use a role of WAI-ARIA, or the element that has the role."),
  "a11y/aria-attribute": error("Use an attribute of WAI-ARIA."),
  "a11y/reference": error("Add an element with this id, or correct the reference."),
  "a11y/duplicate-id": error("Give each element its own id."),
  "a11y/lang": error('Add lang to the html element, such as lang="en".'),
  "a11y/title": error("Add a title element to the head."),
  "a11y/frame-title": error("Add title to the iframe."),
  "a11y/click-target": error("Use a button, or add role, tabindex and a key handler."),
  "a11y/tabindex": warning("Use 0 or -1, and order the elements as they are to be reached."),
  "a11y/nested-control": error("Put the controls beside each other."),
  "a11y/zoom": error("Let people zoom: remove user-scalable and maximum-scale."),
  "object/empty": warning("Add content, or remove the element."),
  "channel/nowhere": error("Add a target, or use a button for an action."),
  "channel/missing-target": error("Add an element with this id, or correct the target."),
  "loop/no-handler": error("Add a handler, a form or a target, or disable the control."),
  "loop/no-response": error(
    "Show what the action did: a changed text or state, an output element, or a message with role=status.",
  ),
  "block/unnamed": error("Give each an aria-label or a heading with aria-labelledby."),
  "import/missing": error("Correct the import, or add what it names."),
  "import/unused": warning("Remove the import."),
  "import/forbidden": error("Import a file of the project or a package that runs in a browser."),
} satisfies Record<string, { severity: Severity; fix: string }>

export type RuleName = keyof typeof rules
