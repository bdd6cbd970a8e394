// Sets of documents and questions, and the collections that are made of them.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sized } from './size.mjs'

const ownGuides = fileURLToPath(new URL('../docs/guides', import.meta.url))
const ownQuestions = fileURLToPath(new URL('../examples/questions', import.meta.url))

/**
 * Documents with their titles, and questions with the ids of the documents that answer them; a question without any is
 * about something else.
 * @typedef {{ id: string, title: string, text: string }} Document
 * @typedef {{ id: string, text: string, relevant: ReadonlyMap<string, number> }} Question
 * @typedef {{ name: string, documents: Document[], questions: Question[] }} QuestionSet
 */

/**
 * The sets in a folder, each a folder in the layout of BEIR; without one, our guides and the questions about them, and
 * questions about something else.
 * @param {string | undefined} folder
 * @returns {Promise<QuestionSet[]>}
 */
export async function readSets(folder) {
  if (folder === undefined) return await readOwn()
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((each) => each.isDirectory()).map(({ name }) => name)
  return await Promise.all(names.sort().map((name) => readSet(join(folder, name), name)))
}

/** @returns {Promise<QuestionSet>} */
async function readSet(folder, name) {
  /** @type {Map<string, Map<string, number>>} */
  const grades = new Map()
  const test = join(folder, 'qrels', 'test.tsv')
  const file = existsSync(test) ? test : join(folder, 'qrels.tsv')
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    const [question = '', document = '', grade] = line.split('\t')
    if (!(Number(grade) > 0)) continue
    const own = grades.get(question) ?? new Map()
    grades.set(question, own.set(document, Number(grade)))
  }
  const documents = await readLines(join(folder, 'corpus.jsonl'))
  const questions = (await readLines(join(folder, 'queries.jsonl'))).flatMap(({ id, text }) => {
    const relevant = grades.get(id)
    return relevant === undefined ? [] : [{ id, text, relevant }]
  })
  return { name, documents, questions }
}

/** @returns {Promise<QuestionSet[]>} */
async function readOwn() {
  const names = (await readdir(ownGuides)).filter((name) => name.endsWith('.md'))
  const documents = await Promise.all(
    names.sort().map(async (name) => {
      const text = await readFile(join(ownGuides, name), 'utf8')
      return { id: name, title: '', text: sized(text, text.slice(0, 3000)) }
    }),
  )
  const about = async (name) =>
    (await readLines(join(ownQuestions, name))).map(({ id, text, relevant = {} }) => ({
      id,
      text,
      relevant: new Map(Object.entries(relevant).map(([key, grade]) => [key, Number(grade)])),
    }))
  return [
    { name: 'guides', documents, questions: await about('queries.jsonl') },
    { name: 'other', documents: [], questions: await about('off-topic.jsonl') },
  ]
}

async function readLines(file) {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const { _id, id = _id, title = '', text, relevant } = JSON.parse(line)
    return { id, title, text, relevant }
  })
}

/**
 * The same list in an order by chance, which is the same in every run.
 * @template Item
 * @param {readonly Item[]} items
 * @returns {Item[]}
 */
export function shuffled(items) {
  let state = 7
  const result = [...items]
  for (let at = result.length - 1; at > 0; at--) {
    state = (state * 48_271) % 2_147_483_647
    const other = state % (at + 1)
    const [one, two] = [result[at], result[other]]
    if (one === undefined || two === undefined) continue
    result[at] = two
    result[other] = one
  }
  return result
}
