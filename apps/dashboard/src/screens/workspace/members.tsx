import { type Role, roles, roleTexts } from '@botstead/contract'
import { ChevronDown, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useAddressSearch } from '../../api/address.js'
import { basePath } from '../../api/client.js'
import { useMay, useOwnMember } from '../../api/role.js'
import { useSignInWays } from '../../api/sign-in-ways.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { Form } from '../../ui/form.js'
import { Menu } from '../../ui/menu.js'
import { Name } from '../../ui/name.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { useShortcuts } from '../../ui/shortcuts.js'
import { ShowMore } from '../../ui/show-more.js'
import { Unread } from '../../ui/states.js'
import { Status } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { InvitationAddress, InviteDialog } from './invite.js'
import styles from './members.module.css'
import { type MadeAddress, type Member, useMemberActions, useMembers } from './queries.js'

/** The name by which a member is known: that of their account, or the address that was invited. */
const nameOf = ({ displayName, email }: Member) => displayName || email

/** The members of the workspace, and open invitations. */
export function Members() {
  const [search, changeAddress] = useAddressSearch()
  const { query, members } = useMembers()
  const mayInvite = useMay()('members:write')
  const own = useOwnMember()
  const [asked, ask] = useState<Asked>()
  const invite = () => void changeAddress({ new: 'member' })
  useShortcuts(mayInvite ? { n: { label: 'Invite a person', run: invite } } : {})
  const close = () => ask(undefined)
  return (
    <Pane>
      <Part
        title="Members"
        hint={own !== undefined && `Your role is ${own.role}. ${roleTexts[own.role]}`}
      >
        {mayInvite && (
          <Button kind="primary" icon={<UserPlus size={14} />} onClick={invite}>
            Invite
          </Button>
        )}
        {query.data === undefined && <Unread {...query} lines={3} />}
        <ItemList
          items={members}
          idOf={({ id }) => id}
          describe={(member) => ({
            name: (
              <span className={styles.person}>
                <Initial member={member} />
                <Name>{nameOf(member)}</Name>
                {member.id === own?.id && ' (you)'}
                {member.userId === undefined && <Status kind="waiting">Invited</Status>}
              </span>
            ),
            facts: (
              <>
                {member.displayName && `${member.email}, `}
                {member.userId === undefined ? 'invited' : 'member since'}{' '}
                <Time at={member.createdAt} />
              </>
            ),
          })}
          actions={(member) => <Actions member={member} own={own} ask={ask} />}
        />
        <ShowMore query={query} />
      </Part>
      {search.new === 'member' && mayInvite && (
        <InviteDialog
          mayInviteOwner={own?.role === 'owner'}
          onClose={() => void changeAddress({ new: undefined })}
        />
      )}
      {asked?.what === 'address' && (
        <Dialog title={`Invitation for ${nameOf(asked.member)}`} onClose={close}>
          <InvitationAddress email={asked.member.email} {...asked.made} />
        </Dialog>
      )}
      {asked?.what === 'removal' && (
        <RemoveDialog member={asked.member} isOwn={asked.member.id === own?.id} onClose={close} />
      )}
      {asked?.what === 'role' && (
        <OwnRoleDialog member={asked.member} role={asked.role} onClose={close} />
      )}
    </Pane>
  )
}

/** The dialog that is open. */
type Asked =
  | { what: 'address'; member: Member; made: MadeAddress }
  | { what: 'removal'; member: Member }
  | { what: 'role'; member: Member; role: Role }

const hues = [styles.hue0, styles.hue1, styles.hue2, styles.hue3, styles.hue4]

/** The first letter of a member, in a colour that stays theirs. */
function Initial({ member }: { member: Member }) {
  const sum = [...member.id].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return (
    <span aria-hidden="true" className={`${styles.initial} ${hues[sum % hues.length]}`}>
      {[...nameOf(member)][0]?.toUpperCase()}
    </span>
  )
}

interface ActionsProps {
  member: Member
  own: Member | undefined
  ask: (asked: Asked) => void
}

/** The role of a member, and what the reader may do about the member. */
function Actions({ member, own, ask }: ActionsProps) {
  const { renew } = useMemberActions()
  const mayChange = useMay()('members:write')
  const isOwn = member.id === own?.id
  const isOutranked = member.role !== 'owner' || own?.role === 'owner'
  const isInvited = member.userId === undefined
  const hasMail = useSignInWays()?.mail === true
  const renewIt = (sendEmail: boolean) =>
    void renew(member.id, sendEmail).then(
      (made) => ask({ what: 'address', member, made }),
      noteFailure,
    )
  const items = [
    ...(isInvited && mayChange && isOutranked
      ? [
          {
            label: 'New address',
            hint: 'The previous address stops working.',
            onSelect: () => renewIt(false),
          },
          ...(hasMail
            ? [
                {
                  label: 'Mail a new address',
                  hint: 'The previous address stops working.',
                  onSelect: () => renewIt(true),
                },
              ]
            : []),
        ]
      : []),
    ...(isOwn || (mayChange && isOutranked)
      ? [
          {
            label: isOwn ? 'Leave the workspace' : isInvited ? 'Withdraw' : 'Remove',
            isDangerous: true,
            onSelect: () => ask({ what: 'removal', member }),
          },
        ]
      : []),
  ]
  return (
    <span className={styles.actions}>
      {mayChange && isOutranked ? (
        <RoleMenu member={member} own={own} ask={ask} />
      ) : (
        <span
          className="muted"
          title={mayChange ? 'Only owners change the role of an owner' : roleTexts[member.role]}
        >
          {member.role}
        </span>
      )}
      {items.length > 0 && <Menu label={`Actions for ${nameOf(member)}`} items={items} />}
    </span>
  )
}

/** Changes the role at once; one's own, which may not come back, after a question. */
function RoleMenu({ member, own, ask }: ActionsProps) {
  const { changeRole } = useMemberActions()
  const choose = (role: Role) => {
    if (member.id === own?.id) return ask({ what: 'role', member, role })
    const before = member.role
    changeRole(member.id, role).then(
      () =>
        note(`${nameOf(member)} is ${role} now.`, () => {
          changeRole(member.id, before).catch(noteFailure)
        }),
      noteFailure,
    )
  }
  return (
    <Menu
      label={`Role of ${nameOf(member)}`}
      trigger={
        <Button aria-label={`Role of ${nameOf(member)}: ${member.role}`}>
          {member.role}
          <ChevronDown size={14} aria-hidden="true" />
        </Button>
      }
      items={roles.map((role) => ({
        label: role,
        hint:
          role === 'owner' && own?.role !== 'owner'
            ? 'Only owners make others owners.'
            : roleTexts[role],
        isDisabled: role === member.role || (role === 'owner' && own?.role !== 'owner'),
        onSelect: () => choose(role),
      }))}
    />
  )
}

interface AboutProps {
  member: Member
  onClose: () => void
}

function OwnRoleDialog({ member, role, onClose }: AboutProps & { role: Role }) {
  const { changeRole } = useMemberActions()
  return (
    <Dialog title={`Become ${role}?`} onClose={onClose}>
      <Form
        submit={`Become ${role}`}
        onSubmit={async () => {
          await changeRole(member.id, role)
          onClose()
          note(`You are ${role} now.`)
        }}
      >
        {() => (
          <p>{`${roleTexts[role]} Only others may give you your role of ${member.role} back.`}</p>
        )}
      </Form>
    </Dialog>
  )
}

function RemoveDialog({ member, isOwn, onClose }: AboutProps & { isOwn: boolean }) {
  const { remove, leave } = useMemberActions()
  const name = nameOf(member)
  if (isOwn) {
    return (
      <Dialog title="Leave the workspace?" onClose={onClose}>
        <Form
          submit="Leave"
          isDangerous
          onSubmit={async () => {
            await leave(member.id)
            // The pages of the workspace are not the reader's any more.
            location.assign(`${basePath}/`)
          }}
        >
          {() => (
            <p>
              You lose access to it, and your tokens that are limited to it stop working. To come
              back, you need an invitation.
            </p>
          )}
        </Form>
      </Dialog>
    )
  }
  const isInvited = member.userId === undefined
  return (
    <Dialog
      title={isInvited ? `Withdraw the invitation for ${name}?` : `Remove ${name}?`}
      onClose={onClose}
    >
      <Form
        submit={isInvited ? 'Withdraw' : 'Remove'}
        isDangerous
        onSubmit={async () => {
          await remove(member.id)
          onClose()
          note(isInvited ? 'The invitation is withdrawn.' : `${name} is removed.`)
        }}
      >
        {() => (
          <p>
            {isInvited
              ? 'Its address stops working.'
              : 'They lose access within a second, and their tokens that are limited to this workspace stop working.'}
          </p>
        )}
      </Form>
    </Dialog>
  )
}
