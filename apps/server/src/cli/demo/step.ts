import type { CallWatch } from './calls.js'
import type { Facts, Printer } from './print.js'

/** One step of the demonstration. */
interface StepOptions<Answer> {
  /** What it does, in words. */
  what: string
  /** What is worth showing of the input. */
  sent?: Facts
  call(): Promise<Answer>
  /** Prints what is worth showing of the answer. */
  show(answer: Answer, print: Printer): void
}

export type Step = <Answer>(options: StepOptions<Answer>) => Promise<Answer>

/** Runs steps one after another and shows each with the calls it made, also those that failed. */
export function createStep(print: Printer, calls: CallWatch): Step {
  return async ({ what, sent, call, show }) => {
    print.step(what)
    calls.take()
    let answer: Awaited<ReturnType<typeof call>>
    try {
      answer = await call()
    } finally {
      for (const made of calls.take()) print.call(made)
      if (sent !== undefined) print.sent(sent)
    }
    show(answer, print)
    return answer
  }
}
