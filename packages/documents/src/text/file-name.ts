import type { Passage } from '../chunking/passage.js'

/** What ends a file name to say its format; what has no letter first is part of a number: `Apache-2.0`. */
const EXTENSION = /(?<=.)\.[a-z][a-z0-9]{0,4}$/iu
/** Two endings that say one format: `notes.tar.gz`. */
const PACKED = /\.tar$/iu
/** Where a word in camel case goes on with another one: `pumpWiring`, `HTTPServer`, `Teil3Montage`. */
const CAMEL = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu
/** What stands for a space in file names; in `v2.1` and `2024-05-01` it belongs to a number. */
const JOINTS = /[\s_+]+|(?<!\p{N})[-.]+|[-.]+(?!\p{N})|\p{Cc}+/gu
/** Names that programs give: UUIDs, hashes, and numbers. */
const MADE_UP =
  /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.*\d)[0-9a-f]{16,}|(?=.*\d)[0-9A-HJKMNP-TV-Z]{26})$/iu
const HAS_WORD = /\p{L}{2}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const LONGEST_TITLE = 200

/** The parts of a key that say what a file is about, as texts to be cut into words. */
export interface FileName {
  /** Its folders. */
  folders: string
  /** The name with its ending, and what camel case in it has as words. */
  name: string
}

/** Reads a key such as `manuals/pumpWiring_v2.1.pdf` for its words. */
export function toFileName(key: string): FileName {
  const at = key.lastIndexOf('/') + 1
  return { folders: withCamelWords(key.slice(0, at)), name: withCamelWords(key.slice(at)) }
}

/** In two lines, so that no phrase goes from one into the other. */
function withCamelWords(text: string): string {
  const parted = partCamelCase(text)
  return parted === text ? text : `${text}\n${parted}`
}

/**
 * The name of a file as people write it, for a document that states no title: `curl-manual_v2.1.txt` gives
 * `curl manual v2.1`. Undefined if it has no word, or was made up by a program.
 */
export function toNameTitle(key: string): string | undefined {
  const name = key.slice(key.lastIndexOf('/') + 1)
  const bare = name.replace(EXTENSION, '').replace(PACKED, '')
  if (MADE_UP.test(bare) || !HAS_WORD.test(bare)) return undefined
  const words = partCamelCase(bare).replace(JOINTS, ' ').trim()
  return [...words].slice(0, LONGEST_TITLE).join('').trim() || undefined
}

function partCamelCase(text: string): string {
  return text.replace(CAMEL, ' ')
}

type Placed = Pick<Passage, 'subtype' | 'headings' | 'ownHeadings'>

/**
 * Puts the name of the file above the passages of a document that states no title, so that who reads a
 * passage alone knows what it is about.
 *
 * @param passages all of the document, in order
 */
export function addNameTitle<P extends Placed>(passages: readonly P[], key: string): P[] {
  const title = statesTitle(passages) ? undefined : toNameTitle(key)
  if (title === undefined) return [...passages]
  return passages.map((passage) => ({ ...passage, headings: [title, ...passage.headings] }))
}

/** Takes away what {@link addNameTitle} put there for another key. */
export function removeNameTitle<P extends Placed>(passages: readonly P[]): P[] {
  // Nothing else stands above the beginning of a document.
  if (passages[0]?.headings.length !== 1) return [...passages]
  return passages.map((passage) => ({ ...passage, headings: passage.headings.slice(1) }))
}

/** Whether one heading of the highest kind stands above all that follows it. */
function statesTitle(passages: readonly Placed[]): boolean {
  const at = passages.findIndex(({ ownHeadings }) => ownHeadings.length > 0)
  const first = passages[at]
  if (first?.subtype !== 'title') return false
  return passages.slice(at + 1).every(({ headings }) => headings[0] === first.ownHeadings[0])
}
