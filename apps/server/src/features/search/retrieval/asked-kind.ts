import { normalise } from '@botstead/documents/text'

const numbers =
  '\\p{N}+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|zwei|drei|vier|fuenf|sechs|sieben|acht|neun|zehn|zwoelf|each|every|per|je|pro'
const units =
  'seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|taeglich|woechentlich|monatlich|jaehrlich|daily|weekly|monthly|yearly|annually|twice'

function toDurations(): RegExp {
  return new RegExp(` (?:${numbers})(?: \\p{L}+)? (?:${units}) `, 'u')
}

function toTimes(): RegExp {
  const months =
    'january|february|march|april|june|july|august|september|october|november|december|januar|februar|maerz|juni|juli|oktober|dezember'
  const days =
    'monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag'
  return new RegExp(
    ` (?:(?:1[0-9]|20)\\p{N}{2}|${months}|${days}|\\p{N}+(?:st|nd|rd|th)|\\p{N}+ (?:am|pm|uhr)) | (?:${numbers}) (?:${units}) `,
    'u',
  )
}

/** The unit of the answer to `how many days`. */
const countedThing = /\b(?:how many|wie viele) (\p{L}{3,30})/u

/** Kinds of answers that a question may ask for, by its words. */
const kinds: readonly { asked: RegExp; answer: RegExp }[] = [
  {
    asked:
      /\b(?:how long(?: (?:may|can|must|should|do|will) (?:i|we|you) (?:have to )?(?:wait|have))?|how much time(?: do (?:i|we|you) have)?|how soon|how often|how old|time limit|within what|wie lange(?: (?:darf|kann|muss|soll) (?:ich|man))?|wie viel zeit|wie oft)\b/u,
    answer: toDurations(),
  },
  {
    // A day, or a time from another one on.
    asked: /\b(?:by when|until when|by what date|deadlines?|bis wann|frist)\b/u,
    answer: new RegExp(`${toDurations().source}|${toTimes().source}`, 'u'),
  },
  {
    asked:
      /(?:^|[.,:;?!] )(?:when|wann)\b|\b(?:what time|what date|which day|which year|um wie viel uhr)\b/u,
    answer: toTimes(),
  },
  {
    asked:
      /\b(?:how much|how large|how big|how tall|how high|how far|wie viel|wieviel|wie hoch|wie gross|wie weit)\b/u,
    answer: / \p{N}/u,
  },
]

/** The kind of answer that a question requests, such as a time. */
export interface AskedKind {
  /** The words that ask for it, as `how` and `long`: they say nothing about the subject. */
  words: ReadonlySet<string>
  /** Whether a text has it. */
  isIn(text: string): boolean
}

/**
 * The kind of answer that a question requests; undefined if it names none of these kinds.
 *
 * @param question as it was typed
 */
export function toAskedKind(question: string): AskedKind | undefined {
  const normalised = normalise(question)
  const [, counted] = countedThing.exec(normalised) ?? []
  if (counted !== undefined) {
    // The number precedes the unit, in any form: `28 days`, `28 working days`.
    const answer = new RegExp(` (?:${numbers})(?: \\p{L}+)? ${counted.slice(0, -1)}`, 'u')
    return toKind('how many wie viele', answer)
  }
  for (const { asked, answer } of kinds) {
    const [words] = asked.exec(normalised) ?? []
    if (words !== undefined) return toKind(words, answer)
  }
  return undefined
}

function toKind(words: string, answer: RegExp): AskedKind {
  const all = new Set(words.split(/[^\p{L}]+/u).filter((word) => word !== ''))
  return { words: all, isIn: (text) => answer.test(` ${text} `) }
}
