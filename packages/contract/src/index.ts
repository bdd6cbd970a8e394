export * from './errors.js'
export * from './operation.js'
export * from './shared.js'
