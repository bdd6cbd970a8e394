export { type Maker, type Makers, makerOf, tagsFor } from './makers.js'
