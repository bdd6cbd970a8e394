// The parts of the benchmark. Every part returns rows for the table. Only what runs is loaded.
import { join } from 'node:path'

/** @type {Readonly<Record<string, (folder: string) => Promise<import('./table.mjs').Row[]>>>} */
export const parts = {
  http: async (folder) => (await import('./http.mjs')).measureHttp(folder),
  commits: async () => (await import('./group-commit.mjs')).measureCommits(),
  messages: async (folder) => (await import('./messages.mjs')).measureMessages(folder),
  listeners: async (folder) => (await import('./chat.mjs')).measureListeners(folder),
  widgets: async (folder) => (await import('./chat.mjs')).measureWidgets(folder),
  delivery: async (folder) => (await import('./delivery.mjs')).measureDelivery(folder),
  'hosting-one': async (folder) =>
    (await import('./hosting.mjs')).measureOneHosted(join(folder, 'hosting')),
  'hosting-many': async (folder) =>
    (await import('./hosting.mjs')).measureManyHosted(join(folder, 'hosting')),
  'hosting-noise': async (folder) =>
    (await import('./hosting.mjs')).measureNoisyHosted(join(folder, 'hosting')),
  bots: async (folder) => (await import('./bots.mjs')).measureBots(folder),
  files: async (folder) => (await import('./files.mjs')).measureFiles(folder),
  start: async (folder) => (await import('./start.mjs')).measureStart(folder),
  'search-size': async (folder) => (await import('./search.mjs')).searchBySize(folder),
  'search-thread': async (folder) => (await import('./search-impact.mjs')).searchThread(folder),
  'search-put': async (folder) => (await import('./search-impact.mjs')).timeToSearchable(folder),
  'search-impact': async (folder) =>
    (await import('./search-impact.mjs')).measureIndexingImpact(folder),
  'search-scores': async (folder) => (await import('./search-scores.mjs')).measureScores(folder),
  index: async () => (await import('./index.mjs')).measureIndexing(),
  dashboard: async (folder) => (await import('./dashboard.mjs')).measureDashboard(folder),
  analytics: async (folder) => (await import('./analytics.mjs')).measureAnalytics(folder),
  schemas: async () => (await import('./schemas.mjs')).measureSchemas(),
  vectors: async (folder) =>
    (await import('./vectors.mjs')).measureVectors(join(folder, 'vectors')),
}

/**
 * Parts that are measured together, by the name of all of them. Parts in no group run on request only.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const groups = {
  http: ['http'],
  commits: ['commits'],
  chat: ['messages', 'listeners', 'widgets'],
  delivery: ['delivery'],
  hosting: ['hosting-one', 'hosting-many', 'hosting-noise'],
  bots: ['bots'],
  files: ['files'],
  start: ['start'],
  search: ['search-size', 'search-thread', 'search-put', 'search-impact', 'index'],
  dashboard: ['dashboard'],
}
