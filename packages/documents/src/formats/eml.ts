import type { Root, RootContent } from 'mdast'
import PostalMime, { type Address, type Email } from 'postal-mime'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import { requireReadable } from '../document/limits.js'
import { heading, paragraph } from '../document/nodes.js'
import { toParagraphs } from '../document/text-blocks.js'
import { pageToMdast } from './html.js'

const formatName = 'an e-mail (.eml)'
/** Levels of nested parts; real messages have five or six. */
const maxDepth = 50
const maxHeaders = 2 * 1024 * 1024
/** How many times longer than its text a message may be: mail programs write many tags. */
const maxMarkupRatio = 16

/** Reads an e-mail: subject, sender, recipients, date, text and the names of attachments. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const options = { maxNestingDepth: maxDepth, maxHeadersSize: maxHeaders }
    const mail = await PostalMime.parse(source.bytes, options)
    if (mail.headers.length === 0) throw new Error('it has no header lines')
    const subject = mail.subject?.replace(/\s+/g, ' ').trim() || undefined
    const children: RootContent[] = [
      ...(subject === undefined ? [] : [heading(1, subject)]),
      ...describe(mail).map((line) => paragraph(line)),
      ...readText(mail, source),
      ...listAttachments(mail),
    ]
    const root: Root = { type: 'root', children }
    return subject === undefined ? { root } : { root, title: subject }
  })
}

/** Sender, recipients and date, one line each, so that a search finds the message by them too. */
function describe(mail: Email): string[] {
  const fields = {
    From: mail.from && nameOf(mail.from),
    To: mail.to?.map(nameOf).join(', '),
    Cc: mail.cc?.map(nameOf).join(', '),
    Date: mail.date,
  }
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}: ${value}`],
  )
  return lines.length === 0 ? [] : [lines.join('\n')]
}

function nameOf(address: Address): string {
  const mailbox = address.address ?? ''
  return address.name === '' ? mailbox : `${address.name} <${mailbox}>`.replace(/ <>$/, '')
}

/** The HTML part has tables and links; plain text is the fallback. */
function readText(mail: Email, source: Source): RootContent[] {
  const html = mail.html === undefined ? '' : requireReadable(mail.html, source, maxMarkupRatio)
  const children = html === '' ? [] : pageToMdast(html).children
  if (children.length > 0) return children
  return toParagraphs(
    requireReadable(mail.text ?? '', source, maxMarkupRatio).replace(/\r\n?/g, '\n'),
  )
}

function listAttachments(mail: Email): RootContent[] {
  const names = mail.attachments.flatMap(({ filename, disposition }) =>
    filename && disposition !== 'inline' ? [filename] : [],
  )
  return names.length === 0 ? [] : [paragraph(`Attachments: ${names.join(', ')}`)]
}
