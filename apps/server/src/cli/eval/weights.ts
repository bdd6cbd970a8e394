import { InvalidArgumentError } from 'commander'
import { type Leg, legWeights, type Weights } from '../../ranking.js'

const names = Object.keys(legWeights).join(', ')

/** Reads `keyword,grams`: these legs with their usual weights, and no other. */
export function readLegs(text: string): Weights {
  const legs = text.split(',').map((name) => toLeg(name, `It is a list of ${names}`))
  return Object.fromEntries(legs.map((leg) => [leg, legWeights[leg]]))
}

/**
 * Reads `keyword=.4,grams=.3,semantic=.3`, once for each ranking that is to be measured.
 *
 * @param before those that were read from earlier options
 */
export function readWeights(text: string, before: readonly Weights[] = []): Weights[] {
  const form = 'It is like keyword=.5,grams=.25,semantic=.25'
  const parts = text.split(',').map((part) => {
    const [name = '', value = ''] = part.split('=')
    const weight = Number(value)
    if (value.trim() === '' || !(weight >= 0 && weight <= 1)) {
      throw new InvalidArgumentError(`${form}: numbers from 0 to 1, not "${part}".`)
    }
    return [toLeg(name, form), weight] as const
  })
  if (parts.every(([, weight]) => weight === 0)) {
    throw new InvalidArgumentError(`${form}: some leg must weigh more than 0.`)
  }
  return [...before, Object.fromEntries(parts)]
}

export function describeWeights(weights: Weights): string {
  return Object.entries(weights)
    .map(([leg, weight]) => `${leg} ${weight}`)
    .join(', ')
}

function toLeg(text: string, form: string): Leg {
  const name = text.trim()
  if (isLeg(name)) return name
  throw new InvalidArgumentError(`${form}, with commas between them; legs are ${names}.`)
}

function isLeg(name: string): name is Leg {
  return Object.hasOwn(legWeights, name)
}
