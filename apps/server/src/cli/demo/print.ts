import { inspect, styleText } from 'node:util'

/** How a demonstration talks to a person: one block per step, coloured on a terminal. */
export interface Printer {
  title(text: string): void
  /** A step: what it does in words, and the call it makes. */
  step(what: string, call: string): void
  sent(value: unknown): void
  received(value: unknown, milliseconds: number): void
  failed(error: unknown): void
  note(text: string): void
  /** Lines that work as pasted. */
  commands(lines: readonly string[]): void
}

type Style = Parameters<typeof styleText>[0]

export function createPrinter(out: NodeJS.WriteStream): Printer {
  const colors = out.isTTY === true
  const paint = (style: Style, text: string) => (colors ? styleText(style, text) : text)
  const write = (text: string) => out.write(`${text}\n`)
  let steps = 0

  const show = (value: unknown) =>
    inspect(shorten(value), { colors, depth: 4, breakLength: 96, compact: 3 })
      .split('\n')
      .map((line, index) => (index === 0 ? line : `      ${line}`))
      .join('\n')

  return {
    title: (text) => write(`\n${paint('bold', text)}\n`),
    step: (what, call) => {
      steps += 1
      write(`\n${paint('bold', `${String(steps).padStart(2)}  ${what}`)}`)
      write(`    ${paint('cyan', call)}`)
    },
    sent: (value) => write(`    → ${show(value)}`),
    received: (value, milliseconds) => {
      write(`    ← ${show(value)}`)
      write(`      ${paint('dim', `${milliseconds.toFixed(0)} ms`)}`)
    },
    failed: (error) => write(`    ${paint('red', `✗ ${describe(error)}`)}`),
    note: (text) => write(`    ${paint('green', text)}`),
    commands: (lines) => {
      for (const line of lines) write(`  ${paint('yellow', line)}`)
    },
  }
}

const longestText = 300

/** Long texts are cut for the eye; what is sent and received is whole. */
function shorten(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length > longestText ? `${value.slice(0, longestText)}…` : value
  }
  if (Array.isArray(value)) return value.map(shorten)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shorten(part)]))
  }
  return value
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
