export {
  type ConnectionOptions,
  type Connections,
  createConnections,
  discardUnreadBody,
  leavePaceToReader,
} from './connections.js'
export { createListener } from './listener.js'
export { stopStarting } from './pipeline.js'
export { endConnection, errorBody, refuseRaw, respondToBrokenRequest } from './refusals.js'
export { isGone, observeResponse } from './response.js'
