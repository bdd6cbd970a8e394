import { escapeHtml } from '../../../platform/escape-html.js'
/** The contents of a mail. */
export interface Letter {
  subject: string
  /** Each in one paragraph; they may contain what people chose, such as names. */
  paragraphs: readonly string[]
  link: { label: string; url: string }
  /** Paragraphs after the link. */
  after: readonly string[]
}

/** Characters of a name in a mail: a long one could be a message of its own. */
const maxNameLength = 60

/** A name that somebody chose, in one line and without an address that mail programs would make a link of. */
export function nameInMail(name: string): string {
  const line = name
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .replaceAll(/(?<=[\p{L}\p{N}])[.:/]+(?=[\p{L}\p{N}/])/gu, ' ')
    .trim()
  const letters = [...line]
  return letters.length > maxNameLength ? `${letters.slice(0, maxNameLength - 1).join('')}…` : line
}

/** A letter as plain text and as HTML. */
export function render({ subject, paragraphs, link, after }: Letter) {
  const text = [...paragraphs, `${link.label}:\n${link.url}`, ...after].join('\n\n')
  const html = [
    '<!doctype html><html lang="en"><meta charset="utf-8">',
    '<body style="font:16px/1.5 sans-serif;max-width:36em;margin:1.5em">',
    ...paragraphs.map(paragraph),
    `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`,
    ...after.map(paragraph),
    paragraph(`If the link does not open, copy this address: ${link.url}`),
    '</body></html>',
  ].join('\n')
  return { subject, text: `${text}\n`, html }
}

function paragraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`
}
