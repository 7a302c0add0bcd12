// Errors about an image file, before its content is recognised.
import { NamedError } from "#util/error.ts"

export class ImageInvalid extends NamedError {
  constructor(reason: string) {
    super("Image.Invalid", `The image cannot be used: ${reason}`, { reason })
  }
}

/** The file ends before the image does. */
export function cutOff(format: string): ImageInvalid {
  return new ImageInvalid(`it is a ${format} that breaks off before its end.`)
}

/** The first bytes are right and what follows is not. */
export function damaged(format: string, what: string): ImageInvalid {
  return new ImageInvalid(`it is a damaged ${format}: ${what}.`)
}
