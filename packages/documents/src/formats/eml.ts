import { extname } from 'node:path'
import type { Nodes, Root, RootContent } from 'mdast'
import { append } from '../document/append.js'
import { type Extraction, ExtractionError, readingAs, type Source } from '../document/extraction.js'
import { requirePieces, requireReadable } from '../document/limits.js'
import { heading, paragraph, plainText } from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import { toParagraphs } from '../document/text-blocks.js'
import { readCalendar } from './calendar.js'
import { createDecoder, type Decoder } from './decode.js'
import { decodeAs, latin1 } from './encodings.js'
import { declaredCharset, pageToMdast } from './html.js'
import { decodeWords, type MimePart, readMime } from './mime.js'

const formatName = 'an e-mail (.eml)'
/** Messages of a mailbox: each is at least one passage. */
const maxMailboxMessages = 100_000
/** Levels of messages in messages that are read; deeper ones are reported as embedded files. */
const maxMessages = 8
/** Files in files, such as a mailbox in an archive of one, that are read. */
const maxLevels = 4
/** Attachments of a file that are read; more are reported. */
const maxAttachments = 50
/** Bytes from which a picture in the text is more than an icon or a tracking pixel. */
const minPicture = 10_000
/** Maximum ratio of the length of a message to its text: mail programs write many tags. */
const maxMarkupRatio = 16
/** The same of plain text, which has blanks and quotation marks only. */
const maxBlankRatio = 2
/** Share of the words of the plain text that the page must have: some pages only say that they cannot be shown. */
const minSharedWords = 0.5
/** Characters of pages of one file that are compared with plain texts: alternatives may be inside of each other. */
const maxCompared = 5_000_000

/** State of reading the parts of one file. */
interface State {
  source: Source
  omissions: Omissions | undefined
  decode: Decoder
  /** Whether the message being read is a page that a browser saved. */
  isSavedPage: boolean
  attachments: number
  /** Characters of attachments. */
  length: number
  /** Characters of pages that were compared with their plain texts. */
  compared: number
  /** Calendars that were read: mail programs send an invitation twice. */
  calendars: Set<string>
}

/** Reads an e-mail, or a mailbox of several: subject, people, date, text, invitations and attachments. */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const bytes = toBytes(source.bytes)
    const contents = isMailbox(source) ? splitMailbox(bytes) : [bytes]
    const state: State = {
      source,
      omissions: source.omissions,
      decode: createDecoder(source.omissions),
      isSavedPage: false,
      compared: 0,
      attachments: 0,
      length: 0,
      calendars: new Set(),
    }
    const root: Root = { type: 'root', children: [] }
    let title: string | undefined
    for (const content of contents) {
      const message = readMime(content, state.decode)
      append(root.children, await readMessage(message, 1, state))
      if (contents.length === 1) title = subjectOf(message)
    }
    return title === undefined ? { root } : { root, title }
  })
}

/** A message in UTF-16, as editors save it, in UTF-8. */
function toBytes(bytes: Uint8Array): Uint8Array {
  const head = latin1(bytes.subarray(0, 2))
  if (head === '\xff\xfe') return Buffer.from(decodeAs('utf-16le', bytes))
  return head === '\xfe\xff' ? Buffer.from(decodeAs('utf-16be', bytes)) : bytes
}

function isMailbox({ key, contentType }: Source): boolean {
  return extname(key).toLowerCase() === '.mbox' || /^application\/mbox\b/i.test(contentType)
}

/** The messages of a mailbox: each begins with a line `From …` above its header lines. */
function splitMailbox(bytes: Uint8Array): Uint8Array[] {
  const text = latin1(bytes)
  const starts: number[] = []
  const beginnings = text.matchAll(
    /(?:^|\r?\n)(?=From [^\n]{1,300}\n(?:>From [^\n]{1,300}\n)?[!-9;-~]{1,200}:)/g,
  )
  for (const { index, 0: blank } of beginnings) {
    requirePieces(starts.push(index + blank.length), 'messages', maxMailboxMessages)
  }
  if (starts.length === 0) return [bytes]
  return starts.map((start, at) => {
    const message = text.slice(start, starts[at + 1]).replace(/^>(>*From )/gm, '$1')
    return Buffer.from(message, 'latin1')
  })
}

/** @param level of the heading with the subject */
async function readMessage(mail: MimePart, level: number, state: State): Promise<RootContent[]> {
  const { unread } = mail
  if (unread > 0) state.omissions?.add('text_cut', undefined, { count: unread, detail: 'parts' })
  const subject = subjectOf(mail)
  const attached: MimePart[] = []
  state.isSavedPage = isSavedPage(mail)
  const body = await readPart(mail, level, state, attached)
  const names = attached.flatMap((part) => (isMessage(part) ? [] : (part.fileName ?? [])))
  const nodes: RootContent[] = [
    ...(subject === undefined ? [] : [heading(level, subject)]),
    ...describe(mail).map((line) => paragraph(line)),
    ...body,
    ...(names.length === 0 ? [] : [paragraph(`Attachments: ${names.join(', ')}`)]),
  ]
  for (const part of attached) {
    const read = isMessage(part) ? readForwarded : readAttachment
    append(nodes, await read(part, level + 1, state))
  }
  return nodes
}

function subjectOf(mail: MimePart): string | undefined {
  const subject = decodeWords(mail.header('subject') ?? '')
    .replace(/\s+/g, ' ')
    .trim()
  return subject === '' ? undefined : subject
}

/** Whether a browser saved a page in the form of a message. */
function isSavedPage(mail: MimePart): boolean {
  return mail.header('snapshot-content-location') !== undefined
}

/** Sender, recipients and date, one line each, so that a search finds the message by them too. */
function describe(mail: MimePart): string[] {
  // The sender of a saved page is the browser.
  if (isSavedPage(mail)) return []
  const people = (name: string) =>
    decodeWords(mail.header(name) ?? '')
      .replace(/"((?:[^"\\]|\\.){0,200})"/g, (_, quoted: string) => quoted.replace(/\\(.)/g, '$1'))
      .replace(/\s+/g, ' ')
      .trim()
  const fields = {
    From: people('from'),
    'Reply-To': people('reply-to') === people('from') ? '' : people('reply-to'),
    To: people('to'),
    Cc: people('cc'),
    Bcc: people('bcc'),
    Date: toDate(mail.header('date') ?? ''),
  }
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === '' ? [] : [`${name}: ${value}`],
  )
  return lines.length === 0 ? [] : [lines.join('\n')]
}

/** A time in the zone of its author: who looks for a mail of an evening knows the day there. */
function toDate(text: string): string {
  const time = new Date(text).getTime()
  if (Number.isNaN(time)) return text.trim()
  const [, sign, hours, minutes] = /([+-])(\d{2})(\d{2})\b(?!.*[+-]\d{4}\b)/.exec(text) ?? []
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -1 : 1)
  const local = new Date(time + offset * 60_000)
  if (Number.isNaN(local.getTime())) return text.trim()
  const zone = offset === 0 ? 'UTC' : `${sign}${hours}:${minutes}`
  return `${local.toISOString().slice(0, -5).replace('T', ' ')} ${zone}`
}

/**
 * The text of a part and of those in it.
 *
 * @param attached receives the parts that are not text of the message
 */
async function readPart(
  part: MimePart,
  level: number,
  state: State,
  attached: MimePart[],
): Promise<RootContent[]> {
  if (part.type === 'multipart/alternative') return readAlternative(part, level, state, attached)
  if (part.type === 'multipart/related') return readRelated(part, level, state, attached)
  if (part.parts.length > 0) {
    const nodes: RootContent[] = []
    for (const inner of part.parts) append(nodes, await readPart(inner, level, state, attached))
    return nodes
  }
  if (isMessage(part)) {
    attached.push(part)
    return []
  }
  if (part.type === 'text/calendar' || /\.ics$/i.test(part.fileName ?? '')) {
    return readInvitation(part, level, state)
  }
  if (isText(part)) return textOf(part, state)
  if (!isSignature(part)) attached.push(part)
  return []
}

/** A signature has no text for readers. */
function isSignature({ type }: MimePart): boolean {
  return /^application\/(?:x-)?(?:pkcs7|pgp)-signature$/.test(type)
}

function isMessage({ type, fileName }: MimePart): boolean {
  return /^message\/(?:rfc822|global)$/.test(type) || /\.eml$/i.test(fileName ?? '')
}

/** Whether mail programs show a part as text. A text with a file name is an attachment; delivery reports are text. */
function isText({ type, disposition, fileName }: MimePart): boolean {
  if (/^(?:message\/(?:delivery-status|disposition-notification)|text\/rfc822-headers)$/.test(type))
    return true
  const isFile = disposition === 'attachment' || fileName !== undefined
  return (
    !isFile && type.startsWith('text/') && !/^text\/(?:css|javascript|x-amp-html|rtf)$/.test(type)
  )
}

/** The text of the best alternative: the page, which has tables and links, unless it lacks most of the plain text. */
async function readAlternative(
  part: MimePart,
  level: number,
  state: State,
  attached: MimePart[],
): Promise<RootContent[]> {
  const nodes: RootContent[] = []
  const readable = part.parts.filter(({ type }) => type !== 'text/plain')
  for (const inner of readable) append(nodes, await readPart(inner, level, state, attached))
  const plain = part.parts
    .filter(({ type }) => type === 'text/plain')
    .flatMap((each) => textOf(each, state))
  if (plain.length === 0 || state.compared > maxCompared) return [...plain, ...nodes]
  state.compared += nodes.reduce((sum, node) => sum + plainText(node).length, 0)
  const words = wordsOf(plain)
  const known = new Set(wordsOf(nodes))
  const isSaid = words.filter((word) => known.has(word)).length >= words.length * minSharedWords
  return isSaid && nodes.length > 0 ? nodes : [...plain, ...nodes]
}

function wordsOf(nodes: readonly RootContent[]): string[] {
  return nodes.flatMap(
    (node) =>
      spacedText(node)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [],
  )
}

function spacedText(node: Nodes): string {
  return 'children' in node ? node.children.map(spacedText).join(' ') : plainText(node)
}

/** Reads the page of a part of type `multipart/related`, and reports the pictures that it shows. */
async function readRelated(
  part: MimePart,
  level: number,
  state: State,
  attached: MimePart[],
): Promise<RootContent[]> {
  const start = part.parameters.get('start')
  const stated = part.parts.find(
    (inner) => start !== undefined && inner.header('content-id') === start,
  )
  const page = stated ?? part.parts[0]
  const nodes = page === undefined ? [] : await readPart(page, level, state, attached)
  for (const inner of part.parts) {
    if (inner === page) continue
    if (inner.disposition === 'attachment' && !isShown(inner)) attached.push(inner)
    else reportPicture(inner, state)
  }
  return nodes
}

function isShown(part: MimePart): boolean {
  return part.type.startsWith('image/') && part.header('content-id') !== undefined
}

function reportPicture({ type, content, fileName, header }: MimePart, state: State): void {
  const { omissions, isSavedPage } = state
  if (isSavedPage || !type.startsWith('image/') || content.length < minPicture) return
  const part = fileName ?? header('content-location') ?? header('content-id')
  omissions?.add('picture_without_text', part === undefined ? undefined : { part })
}

async function readForwarded(part: MimePart, level: number, state: State): Promise<RootContent[]> {
  const name = part.fileName ?? 'forwarded message'
  if (level > maxMessages) {
    state.omissions?.add('embedded_file', { part: name }, { detail: part.type })
    return []
  }
  try {
    return await readMessage(readMime(toBytes(part.content), state.decode), level, state)
  } catch (error) {
    if (error instanceof ExtractionError) throw error
    state.omissions?.add('embedded_file', { part: name }, { detail: part.type })
    return []
  }
}

function readInvitation(part: MimePart, level: number, state: State): RootContent[] {
  const text = decodePart(part, state)
  if (state.calendars.has(text)) return []
  state.calendars.add(text)
  return readCalendar(text, level + 1, state.omissions)
}

function textOf(part: MimePart, state: State): RootContent[] {
  if (part.type === 'text/html') {
    const charset = part.parameters.get('charset')
    const html = state.decode(part.content, charset ?? declaredCharset(part.content))
    return readPage(requireReadable(html, state.source, maxMarkupRatio), state)
  }
  const text = requireReadable(decodePart(part, state), state.source, maxBlankRatio)
  const isFlowed = part.parameters.get('format')?.toLowerCase() === 'flowed'
  return toParagraphs(isFlowed ? unflow(text, part.parameters.get('delsp') === 'yes') : text)
}

function readPage(html: string, { omissions, isSavedPage }: State): RootContent[] {
  const found = createOmissions()
  const { children } = pageToMdast(html, found)
  // Pictures of a mail are reported where they are parts of it. Others are on servers of senders, mostly tracking pixels.
  const isReported = (kind: string) => isSavedPage || kind !== 'picture_without_text'
  omissions?.include(found.list().filter(({ kind }) => isReported(kind)))
  return children
}

function decodePart(part: MimePart, { decode }: State): string {
  return decode(part.content, part.parameters.get('charset'))
}

/** Joins the lines that a mail program has broken: those that end with a blank, each in its depth of quotes. */
function unflow(text: string, deletesSpace: boolean): string {
  const lines: string[] = []
  let open: { quotes: string; parts: string[] } | undefined
  for (const line of text.split('\n')) {
    const [quotes = ''] = /^>*/.exec(line) ?? []
    const content = line.slice(quotes.length).replace(/^ /, '')
    const isFlowing = content.endsWith(' ') && content !== '-- '
    if (open?.quotes !== quotes) {
      if (open !== undefined) lines.push(join(open))
      open = undefined
    }
    open ??= { quotes, parts: [] }
    open.parts.push(isFlowing && deletesSpace ? content.slice(0, -1) : content)
    if (isFlowing) continue
    lines.push(join(open))
    open = undefined
  }
  if (open !== undefined) lines.push(join(open))
  return lines.join('\n')
}

function join({ quotes, parts }: { quotes: string; parts: readonly string[] }): string {
  return `${quotes}${quotes === '' ? '' : ' '}${parts.join('')}`.trimEnd()
}

/** The content of an attachment under its name, by the reader of its type. An unreadable one is reported. */
async function readAttachment(part: MimePart, level: number, state: State): Promise<RootContent[]> {
  const { source, omissions } = state
  const name = part.fileName ?? part.type
  const limit = source.maxLength ?? Number.POSITIVE_INFINITY
  state.attachments += 1
  if (part.content.length === 0) return []
  if (state.attachments > maxAttachments || state.length > limit) {
    omissions?.add('embedded_file', { part: name }, { detail: part.type })
    return []
  }
  const inner = await readContent(part, name, state)
  if (inner === undefined) return []
  state.length += inner.reduce((sum, node) => sum + plainText(node).length, 0)
  return [heading(level, name), ...inner.map((node) => toInner(node, level))]
}

async function readContent(
  part: MimePart,
  name: string,
  { source, omissions }: State,
): Promise<RootContent[] | undefined> {
  const { readInner, onPage: _, ...limits } = source
  const level = (source.level ?? 0) + 1
  const charset = part.parameters.get('charset')
  const contentType = charset === undefined ? part.type : `${part.type}; charset=${charset}`
  try {
    if (readInner === undefined || level > maxLevels) throw unread()
    const inner = await readInner({ ...limits, bytes: part.content, contentType, key: name, level })
    omissions?.include(inner.omissions ?? [], name)
    return inner.root.children
  } catch (error) {
    if (!(error instanceof ExtractionError)) throw error
    const kind = part.type.startsWith('image/') ? 'picture_without_text' : 'embedded_file'
    omissions?.add(kind, { part: name }, { detail: part.type })
    return undefined
  }
}

function unread(): ExtractionError {
  return new ExtractionError(
    'too_deep',
    `The file is nested more than ${maxLevels} levels deep. Save it and upload it on its own.`,
  )
}

/** A node of an attachment, below the heading with its name and without its page numbers. */
function toInner(node: RootContent, level: number): RootContent {
  removePages(node)
  return node.type === 'heading' ? heading(node.depth + level, node.children) : node
}

function removePages(node: Nodes): void {
  delete node.data?.pageNumber
  delete node.data?.pageBreaks
  if ('children' in node) node.children.forEach(removePages)
}
