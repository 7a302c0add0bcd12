// The roles and attributes of WAI-ARIA 1.3.

export const roles: ReadonlySet<string> = words(`
  alert alertdialog application article associationlist associationlistitemkey associationlistitemvalue banner blockquote
  button caption cell checkbox code columnheader combobox comment complementary contentinfo definition deletion dialog
  directory document emphasis feed figure form generic grid gridcell group heading image img insertion link list listbox
  listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option
  paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox
  sectionfooter sectionheader separator slider spinbutton status strong subscript suggestion superscript switch tab table
  tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem`)

export const attributes: ReadonlySet<string> = words(`
  aria-activedescendant aria-atomic aria-autocomplete aria-braillelabel aria-brailleroledescription aria-busy aria-checked
  aria-colcount aria-colindex aria-colindextext aria-colspan aria-controls aria-current aria-describedby aria-description
  aria-details aria-disabled aria-dropeffect aria-errormessage aria-expanded aria-flowto aria-grabbed aria-haspopup
  aria-hidden aria-invalid aria-keyshortcuts aria-label aria-labelledby aria-level aria-live aria-modal aria-multiline
  aria-multiselectable aria-orientation aria-owns aria-placeholder aria-posinset aria-pressed aria-readonly aria-relevant
  aria-required aria-roledescription aria-rowcount aria-rowindex aria-rowindextext aria-rowspan aria-selected aria-setsize
  aria-sort aria-valuemax aria-valuemin aria-valuenow aria-valuetext`)

/** Roles that take keys and clicks. */
export const controlRoles: ReadonlySet<string> = words(
  "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider spinbutton switch tab textbox treeitem",
)

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
