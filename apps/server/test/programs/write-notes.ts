import { openDatabase } from '../../src/platform/db/open.js'
import { note, notesOf } from '../notes.js'

// Writes notes from eight callers at once until it is killed, and prints each once it is stored.
const { run } = notesOf(await openDatabase(JSON.parse(process.argv[2] ?? '{}')))

async function write(caller: number): Promise<void> {
  for (let count = 0; ; count += 1) {
    const id = `${caller}-${count}`
    await run(async (tx) => {
      await tx.insertInto('notes').values(note(id, 'first half')).execute()
      await tx
        .insertInto('notes')
        .values(note(`${id}-more`, 'second half'))
        .execute()
    })
    process.stdout.write(`${id}\n`)
  }
}

await Promise.all(Array.from({ length: 8 }, (_, caller) => write(caller)))
