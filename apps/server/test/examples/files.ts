import { byId, type Example, type Examples, own } from './example.js'

/** Files and search. */
export const filesExamples: Examples = {
  upsertFile: own(() => ({
    body: { key: 'own.md', size: 5, tags: { whose: 'own' }, metadata: { any: 'thing' } },
  })),
  listFiles: own(({ fileId }) => ({
    query: { ids: [fileId, fileId], 'tags.whose': 'own', prefix: 'o', text: 'OWN' },
  })),
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
  listFileFolders: own(() => ({ query: { prefix: '', pageSize: '100' } })),
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
  getFileIndexingReport: byId(({ fileId }) => fileId),
  setFilePassages: byId(({ fileId }) => fileId, {
    passages: [{ content: 'Own words', type: 'paragraph', pageNumber: 1 }],
  }),
  reindexFile: byId(({ fileId }) => fileId),
  searchFiles: own(() => ({ query: { query: 'own words', 'tags.whose': 'own' } })),
  explainSearch: {
    request: ({ fileId }) => ({ query: { query: 'own words', 'tags.whose': 'own', fileId } }),
    foreign: 'ReferenceNotFound',
  },
  createEvaluationSet: own(() => ({ body: { name: 'Own questions' } })),
  listEvaluationSets: own(() => ({ query: { pageSize: '100' } })),
  getEvaluationSet: byId(({ evaluationSetId }) => evaluationSetId),
  updateEvaluationSet: byId(({ evaluationSetId }) => evaluationSetId, { name: 'Renamed' }),
  deleteEvaluationSet: byId(({ evaluationSetId }) => evaluationSetId),
  exportEvaluationSet: byId(({ evaluationSetId }) => evaluationSetId),
  importEvaluationCases: byId(({ evaluationSetId }) => evaluationSetId, {
    lines: '{"_id": "q2", "text": "Own words?"}',
  }),
  createEvaluationCase: {
    request: ({ evaluationSetId, fileId }) => ({
      params: { id: evaluationSetId },
      body: {
        question: 'Own words?',
        right: [{ fileId, grade: 2 }],
        wrong: [],
        note: 'any',
        key: 'own',
      },
    }),
    foreign: 'ResourceNotFound',
  },
  listEvaluationCases: byId(({ evaluationSetId }) => evaluationSetId),
  updateEvaluationCase: {
    request: ({ evaluationSetId, evaluationCaseId }) => ({
      params: { id: evaluationSetId, caseId: evaluationCaseId },
      body: { question: 'New words?', right: [], note: 'other' },
    }),
    foreign: 'ResourceNotFound',
  },
  deleteEvaluationCase: {
    request: ({ evaluationSetId, evaluationCaseId }) => ({
      params: { id: evaluationSetId, caseId: evaluationCaseId },
    }),
    foreign: 'ResourceNotFound',
  },
  startEvaluationRun: byId(({ evaluationSetId }) => evaluationSetId, {
    parameters: { minScore: 0.2, limit: 10, tags: { whose: 'own' } },
    note: 'any',
  }),
  listEvaluationRuns: byId(({ evaluationSetId }) => evaluationSetId),
  getEvaluationRun: ofRun(),
  deleteEvaluationRun: ofRun(),
  listEvaluationResults: ofRun({ only: 'misses' }),
  compareEvaluationRuns: ofRun(),
}

function ofRun(query: Record<string, string> = {}): Example {
  return {
    request: ({ evaluationSetId, evaluationRunId }) => ({
      params: { id: evaluationSetId, runId: evaluationRunId },
      query,
    }),
    foreign: 'ResourceNotFound',
  }
}
