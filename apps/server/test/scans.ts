import { pdf } from '../../../packages/documents/test/pdf.js'

/** The smallest picture. */
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A PDF with a page for each text; a page without one is a picture, as from a scanner. */
export async function scanOf(...texts: (string | undefined)[]): Promise<Buffer> {
  return await pdf((document) => {
    for (const [at, text] of texts.entries()) {
      if (at > 0) document.addPage()
      if (text === undefined) document.image(dot, 0, 0, { width: 595, height: 841 })
      else document.fontSize(11).text(text)
    }
  })
}
