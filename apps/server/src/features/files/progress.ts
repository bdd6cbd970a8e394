import type { contract, Output } from '@botstead/contract'

/** How far the indexing of one generation is, as it is stored. */
export interface Progress
  extends NonNullable<Output<typeof contract.files.get>['file']['indexingProgress']> {
  generation: number
}
