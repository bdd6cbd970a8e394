import type { Paragraph } from 'mdast'
import type { Extraction, Source } from '../document/extraction.js'
import { createTextLimit, requireReadable } from '../document/limits.js'
import { paragraph } from '../document/nodes.js'
import { decodeSource } from './decode.js'

/** Maximum ratio of the length of a file to its text: times and positions. */
const maxMarkupRatio = 6

const time = String.raw`(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?`
/** The line above the text of a cue: of SubRip and WebVTT with an arrow, of YouTube with a comma. */
const timing = new RegExp(`^\\s*(${time})\\s*(?:-->|,)\\s*${time}(?:\\s.*)?$`)
/** The time of a word within a cue, for karaoke. */
const inlineTime = new RegExp(`<${time}>`, 'g')
/** A position or a style of SubStation Alpha, which other subtitles use too: `{\\an8}`. */
const position = /\{\\[^{}]{0,500}\}/g
/** A line of SubStation Alpha: layer, start, end, style, speaker, three margins, effect, text. */
const dialogue = /^Dialogue:\s*[^,]*,([^,]*),[^,]*,[^,]*,([^,]*),[^,]*,[^,]*,[^,]*,[^,]*,(.*)$/

interface Cue {
  start: string
  lines: string[]
}

/** Reads subtitles: a paragraph per cue, with its time and its speaker. */
export async function extract(source: Source): Promise<Extraction> {
  const lines = requireReadable(decodeSource(source), source, maxMarkupRatio).split('\n')
  const cues = lines.some((line) => dialogue.test(line)) ? readDialogue(lines) : readCues(lines)
  const count = createTextLimit(source)
  return { root: { type: 'root', children: cues.flatMap((cue) => toParagraph(cue, count)) } }
}

/** Cues of SubRip, WebVTT and YouTube. Text above the first one, such as a title, is a cue without a time. */
function readCues(lines: readonly string[]): Cue[] {
  const isWebVtt = lines[0]?.startsWith('WEBVTT') === true
  const cues: Cue[] = []
  let open: Cue = { start: '', lines: [] }
  let name: string[] = []
  let isHidden = false
  lines.forEach((line, at) => {
    const start = timing.exec(line)?.[1]
    const isFirst = (lines[at - 1] ?? '').trim() === ''
    const hides = /^(?:STYLE|REGION)\s*$/.test(line) || (isWebVtt && isFirst && isComment(line))
    // Blocks of styles and comments end with an empty line.
    isHidden = start === undefined && (isHidden ? line.trim() !== '' : hides)
    if (isHidden || isCounter(line, lines[at + 1])) return
    if (start !== undefined) {
      cues.push(open)
      open = { start, lines: name }
      name = []
    } else if (isWebVtt && isFirst && timing.test(lines[at + 1] ?? '')) {
      name = isId(line) ? [] : [line]
    } else open.lines.push(line)
  })
  cues.push(open)
  return cues
}

/** Whether a line of WebVTT begins a comment, such as the confidence of a program in its words. */
function isComment(line: string): boolean {
  return /^NOTE(?:\s|$)/.test(line)
}

/** Whether the name of a cue is one that a program gave, such as `4eb5ad69-1c4d/11-0`. */
function isId(name: string): boolean {
  return /^\S*\d\S*$/.test(name.trim())
}

/** Whether a line is the number of the cue below it. Other names of cues are kept. */
function isCounter(line: string, next: string | undefined): boolean {
  return /^\s*\d+\s*$/.test(line) && next !== undefined && timing.test(next)
}

function readDialogue(lines: readonly string[]): Cue[] {
  return lines.flatMap((line) => {
    const [, start = '', speaker = '', text = ''] = dialogue.exec(line) ?? []
    if (text === '') return []
    const shown = text.replace(/\{[^}]{0,500}\}/g, '').replace(/\\[Nnh]/g, ' ')
    return [
      { start: start.trim(), lines: [speaker.trim() === '' ? shown : `${speaker}: ${shown}`] },
    ]
  })
}

function toParagraph({ start, lines }: Cue, count: (text: string) => void): Paragraph[] {
  const text = lines
    .map((line) => toSpoken(line.trim()))
    .filter((line) => line !== '' && !/^WEBVTT\b\s*$/.test(line))
    .join('\n')
  if (text === '') return []
  const shown = start === '' ? text : `[${start.trim()}] ${text}`
  count(shown)
  return [paragraph(shown)]
}

/** A line without markup. The speaker of WebVTT stands in a tag. */
function toSpoken(line: string): string {
  return line
    .replace(inlineTime, '')
    .replace(position, '')
    .replaceAll('[br]', ' ')
    .replace(/<v(?:\.[^\s>]*)?\s+([^>]{1,200})>/g, '$1: ')
    .replace(/<\/?(?:[bicuv]|ruby|rt|lang|font|\d)(?:[.\s:][^>]{0,200})?>/gi, '')
    .replace(/&(amp|lt|gt|nbsp|lrm|rlm);/g, (_, name: string) => entities[name] ?? '')
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', nbsp: ' ' }
