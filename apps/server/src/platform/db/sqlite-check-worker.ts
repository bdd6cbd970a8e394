import { serveTasks } from '../workers/worker-task.js'
import { openUnchanged } from './sqlite-connection.js'

/** Checks the structure of a SQLite file without changing it; returns the first fault, if there is one. */
serveTasks<string, { fault?: string }>(async (file) => {
  const database = openUnchanged(file)
  try {
    const [row] = database.prepare('pragma quick_check(1)').all() as { quick_check: string }[]
    if (row === undefined || row.quick_check === 'ok') return {}
    return { fault: row.quick_check }
  } finally {
    database.close()
  }
})
