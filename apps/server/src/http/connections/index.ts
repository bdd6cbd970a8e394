export {
  type ConnectionOptions,
  type Connections,
  createConnections,
  disableBodyTimeout,
  discardUnreadBody,
} from './connections.js'
export { createListener } from './listener.js'
export { stopStarting } from './pipeline.js'
export { endConnection, errorBody, refuseRaw, respondToBrokenRequest } from './refusals.js'
export {
  type Allowance,
  isGone,
  observeResponse,
  Response,
  setAllowance,
  setRequestId,
} from './response.js'
