// A bot that answers questions from documents, with quotes and links.
//
//   npm start                                          in one terminal
//   npm run knowledge-bot                              in another one: it knows the guides of this checkout
//   npm run knowledge-bot -- manual.pdf terms.docx     or the files that you give it, by their paths
//
// With OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_API_KEY, a language model writes the replies from
// the sources; otherwise the bot quotes them, and nothing leaves the machine.
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from '@botpress/client'
import { Bot } from '@botpress/sdk'
import { logFailures } from '../failures.mjs'
import { startBot } from '../start-bot.mjs'
import { stop } from '../stop.mjs'
import { teach } from './bot.mjs'
import { configuredModel } from './model.mjs'

const files = process.argv.length > 2 ? process.argv.slice(2) : await guides()
await requireFiles(files)
const model = configuredModel()
const bot = logFailures(new Bot({ actions: {}, plugins: {} }))
teach(bot, model)

const {
  id,
  name,
  url,
  apiUrl,
  key: token,
  chatAddress,
} = await startBot(bot, {
  name: 'Knowledge bot',
  port: 8073,
})
const client = new Client({ apiUrl, token, botId: id })
await Promise.all(files.map(upload))

console.log(`${name} listens at ${url}\nIts chat address, for pages and apps:\n  ${chatAddress}`)
console.log(
  `It answers with ${model === undefined ? 'quotes' : model.model}. Ask it in another terminal:`,
)
console.log(`  npx botstead chat --bot "${name}"`)

/** Adds a document to the files of the bot; an unchanged one is not indexed again. */
async function upload(path) {
  const key = basename(path)
  let { file } = await client.uploadFile({ key, index: true, content: await readFile(path) })
  while (file.status.endsWith('_pending')) {
    await setTimeout(200)
    file = (await client.getFile({ id: file.id })).file
  }
  const reason = file.failedStatusReason
  if (reason !== undefined) return console.log(`cannot read ${key}: ${reason}`)
  console.log(`knows ${key}${unread(file, key)}`)
}

/** Says how many parts of a document were not read, and names the command for details. */
function unread({ indexingOmissions: count = 0 }, key) {
  if (count === 0) return ''
  return `, but ${count} ${count === 1 ? 'thing' : 'things'} of it could not be read: npx botstead files report ${JSON.stringify(key)} --bot "${name}"`
}

/** Ends the program before it changes anything if a file is not there. */
async function requireFiles(paths) {
  for (const path of paths) {
    const facts = await stat(path).catch(() => undefined)
    if (facts === undefined) stop(`There is no file ${path}: give the path of a document of yours.`)
    if (!facts.isFile()) stop(`${path} is no file: give the files in it one by one.`)
  }
}

async function guides() {
  const folder = fileURLToPath(new URL('../../docs/guides/', import.meta.url))
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md'))
  return names.map((name) => folder + name)
}
