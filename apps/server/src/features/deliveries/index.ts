export { createOutbox, type NewDelivery, type Outbox } from './outbox.js'
