export {
  type ConnectionOptions,
  type Connections,
  createConnections,
  discardUnreadBody,
  leavePaceToReader,
} from './connections.js'
export { createListener } from './listener.js'
export { startNoMore } from './pipeline.js'
export { answerBrokenRequest, endConnection, errorBody, refuseRaw } from './refusals.js'
export { hasUnanswered, isGone } from './unanswered.js'
