import { extname } from 'node:path'
import type { Nodes, Root, RootContent } from 'mdast'
import { type Extraction, ExtractionError, readingAs, type Source } from '../document/extraction.js'
import { requireReadable } from '../document/limits.js'
import { heading, paragraph, plainText } from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import { toParagraphs } from '../document/text-blocks.js'
import { readCalendar } from './calendar.js'
import { createDecoder, type TextDecoder } from './decode.js'
import { decodeAs, latin1 } from './encodings.js'
import { declaredCharset, pageToMdast } from './html.js'
import { decodeWords, type MimePart, readMime } from './mime.js'

const formatName = 'an e-mail (.eml)'
/** Levels of messages in messages that are read; deeper ones are told as embedded files. */
const maxMessages = 8
/** Files in files, such as a mailbox in an archive of one, that are read. */
const maxLevels = 4
/** Attachments of a file that are read; more are told. */
const maxAttachments = 50
/** Bytes from which a picture in the text is more than a sign or a counter of readers. */
const minPicture = 10_000
/** How many times longer than its text a message may be: mail programs write many tags. */
const maxMarkupRatio = 16
/** Share of the words of the plain text that the page must have: some pages only say that they cannot be shown. */
const minSharedWords = 0.5
/** Characters of pages of one file that are compared with plain texts: alternatives may be inside of each other. */
const maxCompared = 5_000_000

/** What the parts of one file share. */
interface Reading {
  source: Source
  omissions: Omissions | undefined
  decode: TextDecoder
  /** Whether the message that is read is a page that a browser saved. */
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
    const messages = isMailbox(source) ? splitMailbox(bytes) : [bytes]
    const reading: Reading = {
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
    for (const message of messages)
      root.children.push(...(await readMessage(readMime(message, reading.decode), 1, reading)))
    const [first] = messages
    const title =
      messages.length === 1 && first ? subjectOf(readMime(first, reading.decode)) : undefined
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
  const starts = [
    ...text.matchAll(
      /(?:^|\r?\n)(?=From [^\n]{1,300}\n(?:>From [^\n]{1,300}\n)?[!-9;-~]{1,200}:)/g,
    ),
  ].map(({ index, 0: blank }) => index + blank.length)
  if (starts.length === 0) return [bytes]
  return starts.map((start, at) => {
    const message = text.slice(start, starts[at + 1]).replace(/^>(>*From )/gm, '$1')
    return Buffer.from(message, 'latin1')
  })
}

/** @param level of the heading with the subject */
async function readMessage(
  mail: MimePart,
  level: number,
  reading: Reading,
): Promise<RootContent[]> {
  const subject = subjectOf(mail)
  const attached: MimePart[] = []
  reading.isSavedPage = isSavedPage(mail)
  const body = await readPart(mail, level, reading, attached)
  const names = attached.flatMap(({ fileName }) => fileName ?? [])
  const nodes: RootContent[] = [
    ...(subject === undefined ? [] : [heading(level, subject)]),
    ...describe(mail).map((line) => paragraph(line)),
    ...body,
    ...(names.length === 0 ? [] : [paragraph(`Attachments: ${names.join(', ')}`)]),
  ]
  for (const part of attached) nodes.push(...(await readAttachment(part, level + 1, reading)))
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

function toDate(text: string): string {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? text.trim() : time.toISOString()
}

/**
 * The text of a part and of those in it.
 *
 * @param attached receives what is not text of the message
 */
async function readPart(
  part: MimePart,
  level: number,
  reading: Reading,
  attached: MimePart[],
): Promise<RootContent[]> {
  if (part.type === 'multipart/alternative') return readAlternative(part, level, reading, attached)
  if (part.type === 'multipart/related') return readRelated(part, level, reading, attached)
  if (part.parts.length > 0) {
    const nodes: RootContent[] = []
    for (const inner of part.parts) nodes.push(...(await readPart(inner, level, reading, attached)))
    return nodes
  }
  if (isMessage(part)) return readForwarded(part, level, reading)
  if (part.type === 'text/calendar' || /\.ics$/i.test(part.fileName ?? '')) {
    return readInvitation(part, level, reading)
  }
  if (isText(part)) return textOf(part, reading)
  if (!isSignature(part)) attached.push(part)
  return []
}

/** What proves who wrote a message says nothing. */
function isSignature({ type }: MimePart): boolean {
  return /^application\/(?:x-)?(?:pkcs7|pgp)-signature$/.test(type)
}

function isMessage({ type, fileName }: MimePart): boolean {
  return /^message\/(?:rfc822|global)$/.test(type) || /\.eml$/i.test(fileName ?? '')
}

/** Text that mail programs show; a text with a name is a file. Reports of the delivery are text too. */
function isText({ type, disposition, fileName }: MimePart): boolean {
  if (/^(?:message\/(?:delivery-status|disposition-notification)|text\/rfc822-headers)$/.test(type))
    return true
  const isFile = disposition === 'attachment' || fileName !== undefined
  return (
    !isFile && type.startsWith('text/') && !/^text\/(?:css|javascript|x-amp-html|rtf)$/.test(type)
  )
}

/** The text of the best alternative: the page has tables and links, unless it lacks what the plain text says. */
async function readAlternative(
  part: MimePart,
  level: number,
  reading: Reading,
  attached: MimePart[],
): Promise<RootContent[]> {
  const nodes: RootContent[] = []
  const readable = part.parts.filter(({ type }) => type !== 'text/plain')
  for (const inner of readable) nodes.push(...(await readPart(inner, level, reading, attached)))
  const plain = part.parts
    .filter(({ type }) => type === 'text/plain')
    .flatMap((each) => textOf(each, reading))
  if (plain.length === 0 || reading.compared > maxCompared) return [...plain, ...nodes]
  reading.compared += nodes.reduce((sum, node) => sum + plainText(node).length, 0)
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

/** A page, and what it shows: pictures, styles. */
async function readRelated(
  part: MimePart,
  level: number,
  reading: Reading,
  attached: MimePart[],
): Promise<RootContent[]> {
  const start = part.parameters.get('start')
  const stated = part.parts.find(
    (inner) => start !== undefined && inner.header('content-id') === start,
  )
  const page = stated ?? part.parts[0]
  const nodes = page === undefined ? [] : await readPart(page, level, reading, attached)
  for (const inner of part.parts) {
    if (inner === page) continue
    if (inner.disposition === 'attachment' && !isShown(inner)) attached.push(inner)
    else tellPicture(inner, reading)
  }
  return nodes
}

function isShown(part: MimePart): boolean {
  return part.type.startsWith('image/') && part.header('content-id') !== undefined
}

function tellPicture({ type, content, fileName, header }: MimePart, reading: Reading): void {
  const { omissions, isSavedPage } = reading
  if (isSavedPage || !type.startsWith('image/') || content.length < minPicture) return
  const part = fileName ?? header('content-location') ?? header('content-id')
  omissions?.add('picture_without_text', part === undefined ? undefined : { part })
}

async function readForwarded(
  part: MimePart,
  level: number,
  reading: Reading,
): Promise<RootContent[]> {
  const name = part.fileName ?? 'forwarded message'
  if (level >= maxMessages) {
    reading.omissions?.add('embedded_file', { part: name }, { detail: part.type })
    return []
  }
  try {
    return await readMessage(readMime(toBytes(part.content), reading.decode), level + 1, reading)
  } catch (error) {
    if (error instanceof ExtractionError) throw error
    reading.omissions?.add('embedded_file', { part: name }, { detail: part.type })
    return []
  }
}

function readInvitation(part: MimePart, level: number, reading: Reading): RootContent[] {
  const text = decodePart(part, reading)
  if (reading.calendars.has(text)) return []
  reading.calendars.add(text)
  return readCalendar(text, level + 1)
}

function textOf(part: MimePart, reading: Reading): RootContent[] {
  if (part.type === 'text/html') {
    const charset = part.parameters.get('charset')
    const html = reading.decode(part.content, charset ?? declaredCharset(part.content))
    return readPage(requireReadable(html, reading.source, maxMarkupRatio), reading)
  }
  const text = requireReadable(decodePart(part, reading), reading.source, maxMarkupRatio)
  const isFlowed = part.parameters.get('format')?.toLowerCase() === 'flowed'
  return toParagraphs(isFlowed ? unflow(text, part.parameters.get('delsp') === 'yes') : text)
}

function readPage(html: string, { omissions, isSavedPage }: Reading): RootContent[] {
  const told = createOmissions()
  const { children } = pageToMdast(html, told)
  // Pictures of a mail are told where they are parts of it. Others are on the servers of senders, who count readers.
  const isTold = (kind: string) => isSavedPage || kind !== 'picture_without_text'
  omissions?.include(told.list().filter(({ kind }) => isTold(kind)))
  return children
}

function decodePart(part: MimePart, { decode }: Reading): string {
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

/** The content of an attachment under its name, by the reader of its type. What cannot be read is told. */
async function readAttachment(
  part: MimePart,
  level: number,
  reading: Reading,
): Promise<RootContent[]> {
  const { source, omissions } = reading
  const name = part.fileName ?? part.type
  const limit = source.maximumLength ?? Number.POSITIVE_INFINITY
  reading.attachments += 1
  if (part.content.length === 0) return []
  if (reading.attachments > maxAttachments || reading.length > limit) {
    omissions?.add('embedded_file', { part: name }, { detail: part.type })
    return []
  }
  const inner = await readContent(part, name, reading)
  if (inner === undefined) return []
  reading.length += inner.reduce((sum, node) => sum + plainText(node).length, 0)
  return [heading(level, name), ...inner.map((node) => toInner(node, level))]
}

async function readContent(
  part: MimePart,
  name: string,
  { source, omissions }: Reading,
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
  return new ExtractionError('too_deep', 'The file is inside of too many others.')
}

/** A node of an attachment, below the heading with its name and without its page numbers. */
function toInner(node: RootContent, level: number): RootContent {
  const inner = withoutPages(node)
  return inner.type === 'heading' ? heading(inner.depth + level, inner.children) : inner
}

function withoutPages<Node extends Nodes>(node: Node): Node {
  const { pageNumber: _page, pageBreaks: _breaks, ...data } = node.data ?? {}
  const plain: Node = { ...node, data }
  if ('children' in plain)
    plain.children = plain.children.map((child) => withoutPages(child)) as never
  return plain
}
