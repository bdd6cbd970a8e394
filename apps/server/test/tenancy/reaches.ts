import type { Client } from '@botstead/contract'
import { adminReaches } from './reaches-admin.js'
import { chatReaches } from './reaches-chat.js'
import { runtimeReaches } from './reaches-runtime.js'
import type { Tenant } from './seed.js'

/** Operations that name something by its id, called by one tenant with the ids of another. */
export type Reaches = Readonly<Record<string, (client: Client, other: Tenant) => Promise<unknown>>>

export const reaches: Reaches = { ...adminReaches, ...runtimeReaches, ...chatReaches }
