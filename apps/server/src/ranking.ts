// What commands that measure search may know of it, without loading the server.
export { type Leg, legWeights, type Weights } from './features/search/retrieval/fusion.js'
