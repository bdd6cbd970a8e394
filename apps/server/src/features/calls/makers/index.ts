export { createMakers } from './integration-makers.js'
export { type Maker, type Makers, makerOf, tagsFor } from './makers.js'
