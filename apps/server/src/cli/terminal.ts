import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { styleText } from 'node:util'
import { escapeJson, escapeLine, escapeText } from '../platform/terminal-text.js'

// All outputs of the command go through this file. Others wrote much of what is printed: visitors choose names of files,
// errors come from the code of bots. None of it may act on the terminal of the reader.

/** A text in a style, which only {@link paint} makes: its content is escaped already. */
export interface Painted {
  readonly painted: string
}

/** Colours and weights of `styleText`. */
export type Style = Parameters<typeof styleText>[0]

/** Part of a line. */
export type Part = string | number | Painted

/** A part of a line in a style, for an output that has colours. */
export function paint(style: Style, text: string): Painted {
  return { painted: styleText(style, escapeLine(text), { validateStream: false }) }
}

/** One of the outputs of the command. */
export interface Output {
  /** For `readline` and the log, which write to it themselves; nothing else does. */
  readonly stream: NodeJS.WritableStream
  readonly isTerminal: boolean
  /** Width in characters; undefined unless it is a terminal. */
  readonly columns: number | undefined
  /** Whether it shows colours. */
  hasColors(): boolean
  /** Writes one line. Ends of lines within it are escaped. */
  line(...parts: Part[]): void
  /**
   * Writes a text with the lines that it has, and no end of line after it.
   * @returns false if the reader is behind, as the stream does
   */
  text(text: string): boolean
  /** Writes a value as JSON: on one line unless `indent` has a number of spaces. */
  json(value: unknown, indent?: number): void
  /** Empties the line that the cursor is in and writes the beginning of a text there, as much as has room. */
  redraw(text: string): void
  /** Empties the line that the cursor is in; elsewhere than on a terminal nothing happens. */
  clear(): void
  /** A stream for the bytes of a file: they pass unchanged, but to a terminal. */
  forContent(): NodeJS.WritableStream
}

/** Results, which programs read. */
export const out = createOutput(process.stdout)
/** Notices, questions and progress. */
export const notices = createOutput(process.stderr)

const clearLine = '\r\u001b[2K'

export function createOutput(stream: NodeJS.WritableStream & Partial<NodeJS.WriteStream>): Output {
  const write = (text: string) => stream.write(text)
  return {
    stream,
    get isTerminal() {
      return stream.isTTY === true
    },
    get columns() {
      return stream.columns
    },
    hasColors: () => stream.hasColors?.() ?? false,
    line: (...parts) => void write(`${parts.map(toText).join('')}\n`),
    text: (text) => write(escapeText(text)),
    json: (value, indent) =>
      void write(`${escapeJson(JSON.stringify(value, undefined, indent))}\n`),
    redraw: (text) => void write(clearLine + fit(escapeLine(text), (stream.columns ?? 80) - 1)),
    clear: () => {
      if (stream.isTTY) write(clearLine)
    },
    forContent: () => (stream.isTTY ? escapeContent(write) : stream),
  }
}

function toText(part: Part): string {
  return typeof part === 'object' ? part.painted : escapeLine(String(part))
}

/** The beginning of a text that fits in a line. What is not ASCII may be two columns wide, and a line must not wrap. */
function fit(text: string, columns: number): string {
  let width = 0
  let kept = ''
  for (const character of text) {
    width += /[\x20-\x7e░█…]/.test(character) ? 1 : 2
    if (width > columns) return kept
    kept += character
  }
  return kept
}

function escapeContent(write: (text: string) => void): NodeJS.WritableStream {
  const decoder = new StringDecoder('utf8')
  return new Writable({
    write(chunk: Buffer, _, done) {
      write(escapeText(decoder.write(chunk)))
      done()
    },
  })
}
