import type { Client as ExistingChatClient } from '@botpress/chat'
import type { ClientInputs, ClientOutputs } from '@botpress/client'
import type { Client, UsageType } from '@botstead/contract'
import { expectTypeOf } from 'vitest'

/** Operations that the existing client has under the same name. */
type Shared = keyof Client & keyof ClientInputs
type InputOf<Id extends keyof Client> = Exclude<Parameters<Client[Id]>[0], undefined>
type OutputOf<Id extends keyof Client> = Awaited<ReturnType<Client[Id]>>

// Whatever the existing client can send is accepted.
type Refused = { [Id in Shared]: ClientInputs[Id] extends InputOf<Id> ? never : Id }[Shared]
expectTypeOf<Refused>().toBeNever()

// Whatever it reads from a response is there. The states of a bot are compared separately, because ours
// may belong to workflows as well. Types of usage that it does not know are in responses to those only who ask for them.
type UsageOutput = { usage: object } | { usages: object[] }
type Asked<T> = T extends (infer Item)[]
  ? Asked<Item>[]
  : T extends UsageType
    ? Extract<T, ClientOutputs['getUsage']['usage']['type']>
    : T extends object
      ? { [Key in keyof T]: Asked<T[Key]> }
      : T
type Known<Output> = Output extends { bot: infer Bot }
  ? Omit<Bot, 'states'>
  : Output extends UsageOutput
    ? Asked<Output>
    : Output
type Missing = {
  [Id in Shared]: Known<OutputOf<Id>> extends Known<ClientOutputs[Id]> ? never : Id
}[Shared]
expectTypeOf<Missing>().toBeNever()
expectTypeOf<ClientOutputs['getBot']['bot']['states']>().toExtend<
  OutputOf<'getBot'>['bot']['states']
>()

// The same for the chat client, whose key travels in a header. Our messages may carry payloads that
// it does not know.
type ChatInput<Name extends keyof ExistingChatClient> = ExistingChatClient[Name] extends (
  input: infer Input,
) => unknown
  ? Input
  : never
type ChatOutput<Name extends keyof ExistingChatClient> = ExistingChatClient[Name] extends (
  ...args: never
) => Promise<infer Output>
  ? Output
  : never
expectTypeOf<ChatInput<'createUser'>>().toExtend<InputOf<'chatCreateUser'>>()
expectTypeOf<ChatInput<'getOrCreateUser'>>().toExtend<InputOf<'chatGetOrCreateUser'>>()
expectTypeOf<ChatInput<'createConversation'>>().toExtend<InputOf<'chatCreateConversation'>>()
expectTypeOf<ChatInput<'getConversation'>>().toExtend<InputOf<'chatGetConversation'>>()
expectTypeOf<ChatInput<'listMessages'>>().toExtend<InputOf<'chatListMessages'>>()
expectTypeOf<ChatInput<'createMessage'>>().toExtend<InputOf<'chatCreateMessage'>>()
expectTypeOf<OutputOf<'chatCreateUser'>>().toExtend<ChatOutput<'createUser'>>()
expectTypeOf<OutputOf<'chatGetUser'>>().toExtend<ChatOutput<'getUser'>>()
expectTypeOf<OutputOf<'chatGetConversation'>>().toExtend<ChatOutput<'getConversation'>>()
expectTypeOf<OutputOf<'chatListMessages'>['meta']>().toExtend<ChatOutput<'listMessages'>['meta']>()
expectTypeOf<Omit<OutputOf<'chatCreateMessage'>['message'], 'payload'>>().toExtend<
  Omit<ChatOutput<'createMessage'>['message'], 'payload'>
>()
