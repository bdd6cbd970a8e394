import { type Output, type Part, paint, type Style } from '../terminal.js'
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

const margin = '    '
const narrowest = 60
const widest = 100
const maxSegmentLength = 40

/** Writes for people; without colours where the output is not a terminal or declines them. */
export function createPrinter(out: Output): Printer {
  const colors = out.hasColors()
  const columns = Math.max(narrowest, Math.min(out.columns ?? widest, widest))
  const width = columns - margin.length
  const styled = (style: Style, text: string): Part => (colors ? paint(style, text) : text)
  const indented = (lines: readonly Part[], indent = margin) => {
    for (const line of lines) out.line(indent, line)
  }
  let steps = 0

  const facts = (arrow: string, values: Facts) => {
    const names = Object.keys(values)
    const longest = Math.max(...names.map((name) => name.length))
    names.forEach((name, index) => {
      const mark = index === 0 ? arrow : ' '
      out.line(margin, mark, ' ', styled('dim', name.padEnd(longest)), `  ${values[name]}`)
    })
  }

  return {
    title: (text) => {
      out.line()
      out.line(styled('bold', text))
    },
    step: (what) => {
      steps += 1
      out.line()
      out.line(styled('bold', `${String(steps).padStart(2)}  ${what}`))
    },
    call: ({ method, path, status, milliseconds }) => {
      const result = styled(status < 400 ? 'green' : 'red', String(status))
      const time = styled('dim', `${milliseconds.toFixed(0)} ms`)
      out.line(margin, styled('cyan', `${method} ${shortPath(path)}`), '  ', result, '  ', time)
    },
    sent: (values) => facts('→', values),
    received: (values) => facts('←', values),
    list: (lines) => indented(lines.map((line, index) => `${index === 0 ? '←' : ' '} ${line}`)),
    quotes: (quotes) => {
      for (const [index, { score, path, text }] of quotes.entries()) {
        const begin = `${margin}${index === 0 ? '←' : ' '} ${index + 1}. `
        out.line(begin, styled('dim', score.toFixed(2)), '  ', styled('bold', path.join(' › ')))
        indented(wrapText(`“${text}”`, width - 5), `${margin}     `)
      }
    },
    note: (text) => indented([styled('green', text)]),
    said: (text) => {
      for (const line of text.split('\n')) {
        if (line.trim() === '') out.line()
        else if (URL.canParse(line.trim()))
          indented([styled('dim', abbreviate(line.trim(), width - 2))], `${margin}  `)
        else indented(wrapText(line, width))
      }
    },
    failed: ({ what, advice }) => {
      indented(wrapText(`✗ ${what}`, width).map((line) => styled('red', line)))
      indented(wrapText(advice, width))
    },
    command: (what, line) => {
      out.line()
      out.line(`  ${what}`)
      out.line('  ', styled('yellow', line))
    },
  }
}

/** Shortens the signed segments of a path. */
function shortPath(path: string): string {
  return path
    .split('/')
    .map((segment) => abbreviate(segment, maxSegmentLength))
    .join('/')
}
