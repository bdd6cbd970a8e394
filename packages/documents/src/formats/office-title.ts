import type { OfficePackage } from './opc.js'
import { descend, parseXml, textContent } from './xml.js'

/** What programs write when nobody gave a title. */
const MEANINGLESS =
  /^(untitled|powerpoint[ -]pr|presentation\d*$|document\d*$|microsoft |slide \d)/i

/** The title in the properties of an Office document, if somebody gave it one. */
export async function documentTitle(office: OfficePackage): Promise<string | undefined> {
  const part = await office.related('', 'core-properties')
  if (part === undefined) return undefined
  const properties = parseXml(await office.archive.read(part), 'coreProperties')
  return toTitle(textContent(descend(properties, 'title')))
}

/** A title in one line, unless it says nothing. */
export function toTitle(text: string | undefined): string | undefined {
  const title = (text ?? '').replace(/\s+/g, ' ').trim()
  return title === '' || MEANINGLESS.test(title) ? undefined : title
}
