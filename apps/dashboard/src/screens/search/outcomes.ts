import type { Outcome } from './found.js'

/** The outcome for a file or a passage, and advice. */
export const outcomes: Record<Outcome, { title: string; advice: string }> = {
  found: { title: 'It is found', advice: 'It is among the passages.' },
  beyond_limit: {
    title: 'Better ones fill the limit',
    advice: 'Raise the limit, or restrict the search by tags.',
  },
  below_minimum: {
    title: 'Its score is too low',
    advice: 'Lower the lowest score, or ask with words that are in it.',
  },
  no_evidence: {
    title: 'Nothing has enough evidence',
    advice: 'Even the best passage hardly fits the question, so nothing is found.',
  },
  not_a_candidate: {
    title: 'No retriever proposed it',
    advice: 'It shares too few words, letters and meaning with the question.',
  },
  excluded_by_tags: {
    title: 'Its tags do not match',
    advice: 'Change the filter by tags, or the tags of the file.',
  },
  replaced: {
    title: 'It is of another content',
    advice: 'The passage belongs to a former or coming content of the file.',
  },
  not_shared: {
    title: 'It is not shared with integrations',
    advice: 'Index the file again with that policy.',
  },
  not_indexed: { title: 'It is not indexed', advice: 'Press “Index” on its page.' },
  indexing_pending: {
    title: 'It is not indexed yet',
    advice: 'Wait until its indexing is done; its page shows how far it is.',
  },
  indexing_failed: { title: 'Its indexing failed', advice: 'Its page says what to do.' },
  without_passages: { title: 'It has no text', advice: 'Pictures alone cannot be found.' },
}
