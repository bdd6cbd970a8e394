import type { Kysely, Transaction } from 'kysely'
import type { AccessSchema } from './features/access/table.js'
import type { AccountsSchema } from './features/accounts/table.js'
import type { ActionsSchema } from './features/actions/table.js'
import type { BotLogsSchema } from './features/bot-logs/table.js'
import type { BotsSchema } from './features/bots/table.js'
import type { ObjectChangesSchema } from './features/changes/table.js'
import type { ChatSchema } from './features/chat/table.js'
import type { ConversationsSchema } from './features/conversations/table.js'
import type { DeliveriesSchema } from './features/deliveries/table.js'
import type { BotEventsSchema } from './features/events/table.js'
import type { FilesSchema } from './features/files/table.js'
import type { IntegrationsSchema } from './features/integrations/table.js'
import type { MessagesSchema } from './features/messages/table.js'
import type { ObservationsSchema } from './features/observations/table.js'
import type { RecurringSchema } from './features/recurring/table.js'
import type { SearchSchema } from './features/search/table.js'
import type { VectorsSchema } from './features/search/vectors/table.js'
import type { StatesSchema } from './features/states/table.js'
import type { TagsSchema } from './features/tags/table.js'
import type { UsersSchema } from './features/users/table.js'
import type { WorkflowsSchema } from './features/workflows/table.js'
import type { WorkspacesSchema } from './features/workspaces/table.js'
import type { EventsSchema } from './platform/events/table.js'
import type { IdempotencySchema } from './platform/idempotency/table.js'
import type { JobsSchema } from './platform/jobs/table.js'

/** Every table of the database. Each slice and platform part contributes its own fragment. */
export interface Schema
  extends AccessSchema,
    AccountsSchema,
    BotsSchema,
    ActionsSchema,
    BotLogsSchema,
    BotEventsSchema,
    TagsSchema,
    StatesSchema,
    WorkflowsSchema,
    RecurringSchema,
    ObjectChangesSchema,
    ObservationsSchema,
    UsersSchema,
    ConversationsSchema,
    DeliveriesSchema,
    IntegrationsSchema,
    MessagesSchema,
    ChatSchema,
    FilesSchema,
    SearchSchema,
    VectorsSchema,
    WorkspacesSchema,
    IdempotencySchema,
    EventsSchema,
    JobsSchema {}

/** Handle for reads outside a transaction: sees committed data only. */
export type Db = Kysely<Schema>
/** Handle of one transaction: the only thing that can write. */
export type Tx = Transaction<Schema>
/** Runs work in a transaction and resolves once it is durable. The work awaits queries of `tx` only. */
export type Run = <T>(work: (tx: Tx) => Promise<T>, options?: RunOptions) => Promise<T>

/** What the database should know of a transaction. */
export interface RunOptions {
  /**
   * It deletes, shuts somebody out or ends something, or a start needs it, and it is to succeed on a
   * full disk: it may use the room that is reserved for that.
   */
  readonly freesRoom?: boolean
}
