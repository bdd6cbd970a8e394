import { charsetOf, decodeText } from './decode.js'
import type { Extraction, Source } from './extractor.js'
import { extractMarkdown } from './markdown.js'
import { withoutJsx } from './mdx-syntax.js'

/** Reads MDX: Markdown without imports, exports and expressions; components are what they hold. */
export async function extract(source: Source): Promise<Extraction> {
  const text = decodeText(source.bytes, charsetOf(source.contentType))
  return await extractMarkdown(withoutJsx(text), source, { indentedCode: false })
}
