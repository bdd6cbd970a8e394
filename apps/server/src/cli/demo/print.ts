import { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import { abbreviate, wrapText } from '../text.js'

/** An HTTP call as it was made. */
export interface Call {
  method: string
  /** Without the query. */
  path: string
  status: number
  /** From the request to the beginning of the response. */
  milliseconds: number
}

/** A failure for a person: what happened, and what they can do about it. */
export interface Explained {
  what: string
  advice: string
}

/** A few things worth knowing about a value, by name. */
export type Facts = Readonly<Record<string, string | number>>

/** A passage as text for people. */
export interface Quote {
  /** Relevance, from 0 to 1. */
  score: number
  /** Its headings, from the outside in. */
  path: readonly string[]
  text: string
}

/** The output of a demonstration: one block per step, coloured on a terminal. */
export interface Printer {
  title(text: string): void
  /** Begins a step; `what` describes it. */
  step(what: string): void
  /** Prints a call of the step. */
  call(call: Call): void
  sent(facts: Facts): void
  received(facts: Facts): void
  /** Prints one line per item of a list. */
  list(lines: readonly string[]): void
  quotes(quotes: readonly Quote[]): void
  note(text: string): void
  /** Prints a message of several lines; addresses are shortened. */
  said(text: string): void
  failed(failure: Explained): void
  /** Prints a line that works as pasted, and what it does. */
  command(what: string, line: string): void
}

type Style = Parameters<typeof styleText>[0]

const margin = '    '
const narrowest = 60
const widest = 100
const longestSegment = 40

/** Writes for people; without colours where the output is not a terminal or declines them. */
export function createPrinter(out: NodeJS.WritableStream): Printer {
  const terminal = out instanceof WriteStream ? out : undefined
  const colors = terminal?.hasColors() ?? false
  const columns = Math.max(narrowest, Math.min(terminal?.columns ?? widest, widest))
  const width = columns - margin.length
  const paint = (style: Style, text: string) => (colors ? styleText(style, text) : text)
  const write = (text: string) => out.write(`${text}\n`)
  const indented = (lines: readonly string[], indent = margin) => {
    for (const line of lines) write(`${indent}${line}`)
  }
  let steps = 0

  const facts = (arrow: string, values: Facts) => {
    const names = Object.keys(values)
    const longest = Math.max(...names.map((name) => name.length))
    names.forEach((name, index) => {
      const mark = index === 0 ? arrow : ' '
      write(`${margin}${mark} ${paint('dim', name.padEnd(longest))}  ${values[name]}`)
    })
  }

  return {
    title: (text) => write(`\n${paint('bold', text)}`),
    step: (what) => {
      steps += 1
      write(`\n${paint('bold', `${String(steps).padStart(2)}  ${what}`)}`)
    },
    call: ({ method, path, status, milliseconds }) => {
      const result = paint(status < 400 ? 'green' : 'red', String(status))
      const time = paint('dim', `${milliseconds.toFixed(0)} ms`)
      write(`${margin}${paint('cyan', `${method} ${shortPath(path)}`)}  ${result}  ${time}`)
    },
    sent: (values) => facts('→', values),
    received: (values) => facts('←', values),
    list: (lines) => indented(lines.map((line, index) => `${index === 0 ? '←' : ' '} ${line}`)),
    quotes: (quotes) => {
      for (const [index, { score, path, text }] of quotes.entries()) {
        const number = `${index + 1}.`
        const where = paint('bold', path.join(' › '))
        write(
          `${margin}${index === 0 ? '←' : ' '} ${number} ${paint('dim', score.toFixed(2))}  ${where}`,
        )
        indented(wrapText(`“${text}”`, width - 5), `${margin}     `)
      }
    },
    note: (text) => indented([paint('green', text)]),
    said: (text) => {
      for (const line of text.split('\n')) {
        if (line.trim() === '') write('')
        else if (URL.canParse(line.trim()))
          indented([`  ${paint('dim', abbreviate(line.trim(), width - 2))}`])
        else indented(wrapText(line, width))
      }
    },
    failed: ({ what, advice }) => {
      indented(wrapText(`✗ ${what}`, width).map((line) => paint('red', line)))
      indented(wrapText(advice, width))
    },
    command: (what, line) => {
      write(`\n  ${what}`)
      write(`  ${paint('yellow', line)}`)
    },
  }
}

/** Shortens the signed segments of a path. */
function shortPath(path: string): string {
  return path
    .split('/')
    .map((segment) => abbreviate(segment, longestSegment))
    .join('/')
}
