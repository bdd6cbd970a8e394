import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useScope } from '../../../api/address.js'
import { call, change, list, read, refreshAfter } from '../../../api/queries.js'

type Client = import('@botstead/contract').Client
type CaseInput = Omit<Parameters<Client['createEvaluationCase']>[0], 'id'>
type RunInput = Omit<Parameters<Client['startEvaluationRun']>[0], 'id'>

/** A named set of questions whose right answers are known. */
export type EvaluationSet = Awaited<ReturnType<Client['getEvaluationSet']>>['evaluationSet']
export type Case = Awaited<ReturnType<Client['updateEvaluationCase']>>['evaluationCase']
/** One run of all cases of a set. */
export type Run = Awaited<ReturnType<Client['getEvaluationRun']>>['evaluationRun']
export type Result = Awaited<
  ReturnType<Client['listEvaluationResults']>
>['evaluationResults'][number]
export type Comparison = Awaited<ReturnType<Client['compareEvaluationRuns']>>['comparison']
export type RunParameters = Run['parameters']

/** Milliseconds after which a run that is not done is read again. */
const workingPause = 1000

/** Whether a run goes on by itself. */
function isGoingOn({ state }: Pick<Run, 'state'>): boolean {
  return state === 'waiting' || state === 'running'
}

export function useSets() {
  const { botId } = useScope()
  const query = useInfiniteQuery(list({ botId }, 'listEvaluationSets', { pageSize: 100 }))
  return { query, sets: query.data?.pages.flatMap(({ evaluationSets }) => evaluationSets) ?? [] }
}

export function useSet(id: string) {
  const { botId } = useScope()
  return useQuery(read({ botId }, 'getEvaluationSet', { id }))
}

export function useCases(id: string) {
  const { botId } = useScope()
  const query = useInfiniteQuery(list({ botId }, 'listEvaluationCases', { id, pageSize: 100 }))
  return { query, cases: query.data?.pages.flatMap(({ evaluationCases }) => evaluationCases) ?? [] }
}

/** The runs of a set, newest first; read again while one goes on. */
export function useRuns(id: string) {
  const { botId } = useScope()
  const query = useInfiniteQuery({
    ...list({ botId }, 'listEvaluationRuns', { id, pageSize: 100 }),
    refetchInterval: ({ state }) => (runsOf(state.data).some(isGoingOn) ? workingPause : false),
  })
  return { query, runs: runsOf(query.data) }
}

function runsOf(data: InfiniteData<{ evaluationRuns: Run[] }> | undefined): Run[] {
  return data?.pages.flatMap(({ evaluationRuns }) => evaluationRuns) ?? []
}

/** The results of a run, worst first. */
export function useResults(id: string, run: Run, only: 'misses' | 'wrong' | undefined) {
  const { botId } = useScope()
  const input = { id, runId: run.id, pageSize: 50, ...(only !== undefined && { only }) }
  const query = useInfiniteQuery({
    ...list({ botId }, 'listEvaluationResults', input),
    enabled: run.state === 'completed',
  })
  return {
    query,
    results: query.data?.pages.flatMap(({ evaluationResults }) => evaluationResults) ?? [],
  }
}

/** The comparison of a run with a baseline; no request is made while one of them is missing. */
export function useComparison(id: string, runId: string, baselineId: string | undefined) {
  const { botId } = useScope()
  return useQuery({
    ...read({ botId }, 'compareEvaluationRuns', { id, runId, baselineId: baselineId ?? '' }),
    enabled: baselineId !== undefined,
  })
}

/** The changes of sets, their cases and their runs; each rejects with the error of the server. */
export function useEvaluationActions() {
  const { botId } = useScope()
  const scope = { botId }
  return {
    createSet: async (name: string): Promise<EvaluationSet> => {
      const { evaluationSet } = await change(scope, 'createEvaluationSet', { name })
      return evaluationSet
    },
    renameSet: async (id: string, name: string): Promise<void> => {
      await change(scope, 'updateEvaluationSet', { id, name })
    },
    removeSet: async (id: string): Promise<void> => {
      await change(scope, 'deleteEvaluationSet', { id })
    },
    createCase: async (id: string, input: CaseInput): Promise<void> => {
      await change(scope, 'createEvaluationCase', { id, ...input })
    },
    updateCase: async (id: string, caseId: string, input: Partial<CaseInput>): Promise<void> => {
      await change(scope, 'updateEvaluationCase', { id, caseId, ...input })
    },
    removeCases: async (id: string, caseIds: readonly string[]): Promise<void> => {
      try {
        for (const caseId of caseIds) await call(scope, 'deleteEvaluationCase', { id, caseId })
      } finally {
        await refreshAfter('deleteEvaluationCase')
      }
    },
    importCases: async (id: string, lines: string) => {
      return await change(scope, 'importEvaluationCases', { id, lines })
    },
    /** All cases as lines of JSON. */
    exportCases: async (id: string): Promise<string> => {
      let text = ''
      let nextToken: string | undefined
      do {
        const page = await call(scope, 'exportEvaluationSet', {
          id,
          pageSize: 100,
          ...(nextToken !== undefined && { nextToken }),
        })
        text += page.lines
        nextToken = page.meta.nextToken
      } while (nextToken !== undefined)
      return text
    },
    startRun: async (id: string, input: RunInput): Promise<Run> => {
      const { evaluationRun } = await change(scope, 'startEvaluationRun', { id, ...input })
      return evaluationRun
    },
    removeRun: async (id: string, runId: string): Promise<void> => {
      await change(scope, 'deleteEvaluationRun', { id, runId })
    },
  }
}
