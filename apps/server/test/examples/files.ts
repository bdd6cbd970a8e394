import { byId, type Examples, own } from './example.js'

/** Files and search. */
export const filesExamples: Examples = {
  upsertFile: own(() => ({
    body: { key: 'own.md', size: 5, tags: { whose: 'own' }, metadata: { any: 'thing' } },
  })),
  listFiles: own(({ fileId }) => ({ query: { ids: [fileId, fileId], 'tags.whose': 'own' } })),
  getFile: {
    request: ({ fileId }) => ({
      params: { id: fileId },
      query: { waitFor: 'indexing_completed', timeout: '0' },
    }),
    foreign: 'ResourceNotFound',
  },
  deleteFile: byId(({ fileId }) => fileId),
  updateFileMetadata: byId(({ fileId }) => fileId, {
    metadata: { any: null, other: 'thing' },
    tags: { whose: 'new' },
    accessPolicies: ['integrations'],
    expiresAt: null,
  }),
  copyFile: {
    request: ({ fileId }) => ({
      params: { idOrKey: fileId, destinationKey: 'copy.md' },
      body: { overwrite: true },
    }),
    foreign: 'ResourceNotFound',
  },
  listFileTags: own(() => ({ query: { pageSize: '100' } })),
  listFileTagValues: own(() => ({ params: { tag: 'whose' }, query: { pageSize: '100' } })),
  listFileEvents: own(() => ({ query: { after: '0' } })),
  createKnowledgeBase: own(() => ({ body: { name: 'Manuals', tags: { whose: 'own' } } })),
  listKnowledgeBases: own(() => ({ query: { 'tags.whose': 'own' } })),
  updateKnowledgeBase: byId(({ knowledgeBaseId }) => knowledgeBaseId, {
    name: 'Renamed',
    tags: { whose: null, other: 'thing' },
  }),
  deleteKnowledgeBase: byId(({ knowledgeBaseId }) => knowledgeBaseId),
  listFilePassages: {
    request: ({ fileId }) => ({ params: { id: fileId }, query: { limit: '5', pageSize: '5' } }),
    foreign: 'ResourceNotFound',
  },
  setFilePassages: byId(({ fileId }) => fileId, {
    passages: [{ content: 'Own words', type: 'paragraph', pageNumber: 1 }],
  }),
  reindexFile: byId(({ fileId }) => fileId),
  searchFiles: own(() => ({ query: { query: 'own words', 'tags.whose': 'own' } })),
}
