import { ApiError, type Body, type contract } from '@botstead/contract'
import type { ChatActor, ChatAddress } from '../../../domain/actor.js'
import type { Clock } from '../../../platform/clock.js'
import type { UsersService } from '../../conversations/users/index.js'
import type { UserKeys } from '../user-keys.js'

type WantedKey = Body<typeof contract.webchat.createUserKey>

export interface UserKeyDeps {
  clock: Clock
  keys: UserKeys
  users: Pick<UsersService, 'getOrCreate'>
  requireAdmin(chat: ChatAddress, secret: string | undefined): Promise<void>
}

/** Makes keys of users for programs that know the admin secret of a chat. */
export function createUserKeyOperation({ clock, keys, users, requireAdmin }: UserKeyDeps) {
  return async function createUserKey(
    { chat }: ChatActor,
    { id, expiresAt }: WantedKey,
    secret: string | undefined,
  ): Promise<string> {
    await requireAdmin(chat, secret)
    const now = clock.now()
    if (expiresAt !== undefined && expiresAt <= now) {
      throw new ApiError(
        'InvalidPayload',
        'body.expiresAt must be in the future, in milliseconds since the Unix epoch.',
        { metadata: { in: 'body', field: 'expiresAt' } },
      )
    }
    // The key is newer than any revocation: who has the secret may let a user in again.
    const user = await users.getOrCreate(chat, id, {}, now)
    return await keys.sign(chat, id, user.keys_revoked_at, expiresAt)
  }
}
