import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileProblem } from '../file-problems.js'
import { readFolder } from '../files/sync.js'

/** A document of a collection: a line of `corpus.jsonl`, or a file of a folder. */
export type Document = { id: string } & ({ title: string; text: string } | { path: string })

/** A question with the documents that answer it. */
export interface Question {
  id: string
  text: string
  /** Grade by document id, above 0; the higher, the better the document answers. */
  relevant: ReadonlyMap<string, number>
}

/** Questions with their answers, in the layout of BEIR. */
export interface Dataset {
  /** Questions that have a relevant document. */
  questions: Question[]
  /** Ids of the questions whose right documents are not known. */
  unanswered: string[]
  /** Questions that no document answers. */
  offTopic: Pick<Question, 'id' | 'text'>[]
  /** Grades of `qrels` by question and document. */
  grades: ReadonlyMap<string, ReadonlyMap<string, number>>
}

/**
 * Reads `corpus.jsonl` of a folder.
 * @throws Error that names the file and the line that cannot be read
 */
export async function readCorpus(folder: string): Promise<Document[]> {
  const file = join(folder, 'corpus.jsonl')
  if (!existsSync(file)) {
    throw new Error(
      `There is no file ${file}: name the folder of the documents with --documents, or ask about files that the bot has with --skip-upload.`,
    )
  }
  const documents = await readLines(file, readRecord)
  if (documents.length === 0) throw new Error(`${file} has no document.`)
  return documents
}

/** Finds the files below a folder; the id of each is its path there, with `/` on every system. */
export async function readDocuments(folder: string): Promise<Document[]> {
  const { files } = await readFolder(folder, { hidden: false, prefix: '' })
  if (files.length === 0) throw new Error(`${folder} has no files.`)
  return files.map(({ key, path }) => ({ id: key, path }))
}

/**
 * Reads `queries.jsonl` and `qrels/test.tsv` (or `qrels.tsv`) of a folder. A line of `queries.jsonl`
 * may have the grades of its question as `relevant`, as those that an evaluation set exports have; where
 * it is empty, no document answers the question.
 * @throws Error that names the file and the line that cannot be read
 */
export async function readDataset(folder: string): Promise<Dataset> {
  const queries = await readLines(join(folder, 'queries.jsonl'), (line) => {
    return { ...readQuestion(line), relevant: readRelevant(line) }
  })
  const file = gradesFile(folder)
  const needsFile = queries.every(({ relevant }) => relevant === undefined)
  const grades: ReadonlyMap<string, Map<string, number>> = needsFile || existsSync(file)
    ? await readGrades(file)
    : new Map()
  const questions = queries.map(({ id, text, relevant }) => ({
    id,
    text,
    isJudged: relevant !== undefined,
    relevant: new Map([...(relevant ?? []), ...(grades.get(id) ?? [])]),
  }))
  const answered = questions.filter(({ relevant }) => relevant.size > 0)
  if (answered.length === 0) throw new Error(`${folder} has no question with an answer.`)
  const others = questions.filter(({ relevant }) => relevant.size === 0)
  return {
    questions: answered.map(({ id, text, relevant }) => ({ id, text, relevant })),
    unanswered: others.filter(({ isJudged }) => !isJudged).map(({ id }) => id),
    offTopic: others.filter(({ isJudged }) => isJudged).map(({ id, text }) => ({ id, text })),
    grades,
  }
}

/**
 * Reads the questions of a file such as `queries.jsonl`.
 * @throws Error that names the file and the line that cannot be read
 */
export async function readQuestions(file: string): Promise<Pick<Question, 'id' | 'text'>[]> {
  const questions = await readLines(file, readQuestion)
  if (questions.length === 0) throw new Error(`${file} has no question.`)
  return questions
}

/**
 * Inconsistencies that may falsify the measurement, one line each. A document that is not there can never be found.
 * @param documents ids of those that are there
 */
export function findGaps(
  { questions, unanswered, offTopic, grades }: Dataset,
  documents: Iterable<string>,
): string[] {
  const judged = new Set(questions.flatMap(({ relevant }) => [...relevant.keys()]))
  for (const own of grades.values()) for (const id of own.keys()) judged.add(id)
  for (const id of documents) judged.delete(id)
  const asked = new Set(grades.keys())
  for (const { id } of questions) asked.delete(id)
  for (const id of [...unanswered, ...offTopic.map((each) => each.id)]) asked.delete(id)
  return [
    ...warn('judged documents are not there and count as not found', [...judged]),
    ...warn('judged questions are not in queries.jsonl', [...asked]),
    ...warn('questions have no right document and are left out', unanswered),
  ]
}

function warn(what: string, ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const some = ids.slice(0, 3).join(', ')
  return [`${ids.length} ${what}: ${some}${ids.length > 3 ? ', …' : ''}`]
}

function gradesFile(folder: string): string {
  const nested = join(folder, 'qrels', 'test.tsv')
  return existsSync(nested) ? nested : join(folder, 'qrels.tsv')
}

async function readGrades(file: string): Promise<Map<string, Map<string, number>>> {
  const grades = new Map<string, Map<string, number>>()
  const rows = await readLines(file, readGrade)
  for (const { question, document, value } of rows) {
    // Some collections also list irrelevant documents.
    if (value <= 0) continue
    const own = grades.get(question) ?? new Map<string, number>()
    grades.set(question, own.set(document, value))
  }
  return grades
}

/** Maximum grade: measures take it for a power of two. */
const maxGrade = 100

function readGrade(line: string, number: number) {
  const [question = '', document = '', grade = ''] = line.split('\t')
  const value = grade.trim() === '' ? Number.NaN : Number(grade)
  const isWhole = question !== '' && document !== '' && value <= maxGrade
  // The first line may contain column names.
  const namesColumns = number === 1 && document !== '' && /\p{L}/u.test(grade)
  if (namesColumns) return { question, document, value: 0 }
  if (!isWhole) {
    throw new Error(
      `a question, a document and a grade up to ${maxGrade}, with tabs between them, belong here`,
    )
  }
  return { question, document, value }
}

/** The member `relevant` of a line: grades by the ids of documents; undefined without it. */
function readRelevant(line: string): Map<string, number> | undefined {
  const record: unknown = JSON.parse(line)
  const relevant: unknown =
    typeof record === 'object' && record ? Reflect.get(record, 'relevant') : undefined
  if (relevant === undefined) return undefined
  if (typeof relevant !== 'object' || relevant === null || Array.isArray(relevant)) {
    throw new Error('"relevant" must be an object: grades by the ids of documents')
  }
  return new Map(
    Object.entries(relevant)
      .map(([id, grade]) => {
        const value = Number(grade)
        if (!(value <= maxGrade)) {
          throw new Error(`the grade of ${id} must be a number, at most ${maxGrade}`)
        }
        return [id, value] as const
      })
      .filter(([, value]) => value > 0),
  )
}

/** Maximum bytes of a question in UTF-8: those of a search. */
const maxQuestionBytes = 2048

function readQuestion(line: string): Pick<Question, 'id' | 'text'> {
  const { id, text } = readRecord(line)
  if (text.trim() === '' || Buffer.byteLength(text) > maxQuestionBytes) {
    throw new Error(`"text" must be a question of 1 to ${maxQuestionBytes} bytes of UTF-8`)
  }
  return { id, text }
}

function readRecord(line: string): { id: string; title: string; text: string } {
  const record: unknown = JSON.parse(line)
  const text = (name: string) => {
    const value: unknown =
      typeof record === 'object' && record ? Reflect.get(record, name) : undefined
    // What is no whole character cannot be sent.
    return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : ''
  }
  const id = text('_id') || text('id')
  if (id === '') throw new Error('the member "_id" is missing')
  return { id, title: text('title'), text: text('text') }
}

async function readLines<T>(file: string, read: (line: string, number: number) => T): Promise<T[]> {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  const found: T[] = []
  let number = 0
  const input = Readable.from(withBoundedLines(createReadStream(file), file))
  const lines = createInterface({ input, crlfDelay: Infinity })
  // Not every version of Node passes it on while lines are read.
  let fault: Error | undefined
  input.once('error', (error) => {
    fault = error
    lines.close()
  })
  try {
    for await (const line of lines) {
      number += 1
      // Programs of Windows begin a file with a mark of its encoding.
      const content = number === 1 ? line.replace(/^\ufeff/, '') : line
      if (content.trim() !== '') found.push(readLine(content, number))
    }
    if (fault !== undefined) throw fault
  } catch (cause) {
    const problem = fileProblem(cause, file)
    throw problem === undefined ? cause : new Error(problem, { cause })
  }
  return found

  function readLine(line: string, number: number): T {
    try {
      return read(line, number)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${file}, line ${number}: ${reason}.`, { cause })
    }
  }
}

/** Maximum bytes of a line: a text of JavaScript has half a gigabyte. */
const maxLineBytes = 100_000_000
const lineFeed = 10

/** @throws Error before a line is read that is longer than allowed */
async function* withBoundedLines(input: Readable, file: string): AsyncGenerator<Buffer> {
  let number = 1
  let bytes = 0
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      number += 1
      bytes = 0
      from = end + 1
    }
    bytes += chunk.length - from
    if (bytes > maxLineBytes) {
      throw new Error(`${file}, line ${number}: a line has at most ${maxLineBytes} bytes.`)
    }
    yield chunk
  }
}
