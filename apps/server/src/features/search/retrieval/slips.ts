import { editDistance } from '../../../platform/nearest.js'

/** Rows of a keyboard; the German one differs in two letters. */
const rows = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'qwertzuiop', 'yxcvbnm']
/** Letters that people confuse by their sound. */
const soundAlike = ['aeiouy', 'ckqs', 'sz', 'gj', 'vw', 'fv', 'dt', 'bp', 'mn']

/** Likelihood of each kind of slip, from 0 to 1. */
const likelihoods = {
  swapped: 0.95,
  doubled: 0.95,
  omitted: 0.9,
  added: 0.9,
  neighbour: 0.85,
  sound: 0.85,
  other: 0.65,
}
/** A second slip in one word. */
const second = 0.85
/** People rarely mistype the first letter; a long word can only be another one in spite of that. */
const firstLetter = 0.6
const firstLetterOfLong = 0.8
const longWord = 8
/** Short words have many others within a slip: the factor by the number of their letters. */
const byLength: Readonly<Record<number, number>> = { 4: 0.4, 5: 0.65, 6: 0.9 }
const shortest = 4

/** A place where two words differ. */
interface Difference {
  left: string
  right: string
  /** The letters before it. */
  before: string
  /** Whether it is at the beginning of the words. */
  isFirst: boolean
}

/**
 * The likelihood, from 0 to 1, that a word was typed instead of another: by the kind of the slip, the letters on the
 * keyboard, where in the word it is, and how long the word is. 0 if they differ by more than `limit` slips.
 */
export function likelihoodOfSlip(typed: string, meant: string, limit: number): number {
  const edits = editDistance(typed, meant, { limit, swap: 1 })
  if (edits > limit) return 0
  if (edits === 0) return 1
  const length = Math.min(typed.length, meant.length)
  const ofLength = length < shortest ? 0 : (byLength[length] ?? 1)
  return ofLength * (edits === 1 ? ofSlip(typed, meant) : ofSlips(typed, meant))
}

/** Two slips: not taken apart, because they may have happened in several ways. */
function ofSlips(typed: string, meant: string): number {
  const start = typed[0] === meant[0] ? 1 : factorOfFirst(typed, meant)
  return start * likelihoods.neighbour * second
}

function factorOfFirst(typed: string, meant: string): number {
  return Math.min(typed.length, meant.length) < longWord ? firstLetter : firstLetterOfLong
}

function differenceOf(left: string, right: string): Difference {
  const shorter = Math.min(left.length, right.length)
  let begin = 0
  while (begin < shorter && left[begin] === right[begin]) begin++
  let end = 0
  while (end < shorter - begin && left.at(-1 - end) === right.at(-1 - end)) end++
  return {
    left: left.slice(begin, left.length - end),
    right: right.slice(begin, right.length - end),
    before: left.slice(begin - 1, begin),
    isFirst: begin === 0,
  }
}

function ofSlip(typed: string, meant: string): number {
  const { left, right, before, isFirst } = differenceOf(typed, meant)
  const kind = kindOf(left, right, before)
  return likelihoods[kind] * (isFirst && kind !== 'swapped' ? factorOfFirst(typed, meant) : 1)
}

function kindOf(left: string, right: string, before: string): keyof typeof likelihoods {
  if (left.length === 2) return 'swapped'
  // After letters that are equal, a doubled one is the last of them.
  if (left === '') return right === before ? 'doubled' : 'omitted'
  if (right === '') return left === before ? 'doubled' : 'added'
  if (areNeighbours(left, right)) return 'neighbour'
  return soundAlike.some((letters) => letters.includes(left) && letters.includes(right))
    ? 'sound'
    : 'other'
}

function areNeighbours(left: string, right: string): boolean {
  return rows.some((row) => row.includes(`${left}${right}`) || row.includes(`${right}${left}`))
}
