export { createDeliveryBodies, type DeliveryBodies, type DeliveryBody } from './bodies.js'
export { createOutbox, type NewDelivery, type Outbox } from './outbox.js'
