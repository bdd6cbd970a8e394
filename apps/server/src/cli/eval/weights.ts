import { InvalidArgumentError } from 'commander'
import {
  defaultWeights,
  type Retriever,
  type RetrieverWeights,
} from '../../features/search/weights.js'

const names = Object.keys(defaultWeights).join(', ')

/** Reads `keyword,grams`: these retrievers with their default weights, and no other. */
export function readRetrievers(text: string): RetrieverWeights {
  const retrievers = text.split(',').map((name) => toRetriever(name, `It is a list of ${names}`))
  return Object.fromEntries(retrievers.map((name) => [name, defaultWeights[name]]))
}

/**
 * Reads `keyword=.4,grams=.3,semantic=.3`, once for each ranking that is to be measured.
 *
 * @param before those that were read from earlier options
 */
export function readWeights(
  text: string,
  before: readonly RetrieverWeights[] = [],
): RetrieverWeights[] {
  const form = 'It is like keyword=.5,grams=.25,semantic=.25'
  const parts = text.split(',').map((part) => {
    const [name = '', value = ''] = part.split('=')
    const weight = Number(value)
    if (value.trim() === '' || !(weight >= 0 && weight <= 1)) {
      throw new InvalidArgumentError(`${form}: numbers from 0 to 1, not "${part}".`)
    }
    return [toRetriever(name, form), weight] as const
  })
  if (parts.every(([, weight]) => weight === 0)) {
    throw new InvalidArgumentError(`${form}: some leg must weigh more than 0.`)
  }
  return [...before, Object.fromEntries(parts)]
}

export function describeWeights(weights: RetrieverWeights): string {
  return Object.entries(weights)
    .map(([name, weight]) => `${name} ${weight}`)
    .join(', ')
}

function toRetriever(text: string, form: string): Retriever {
  const name = text.trim()
  if (isRetriever(name)) return name
  throw new InvalidArgumentError(`${form}, with commas between them; legs are ${names}.`)
}

function isRetriever(name: string): name is Retriever {
  return Object.hasOwn(defaultWeights, name)
}
