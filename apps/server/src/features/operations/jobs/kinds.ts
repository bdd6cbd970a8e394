/** The description of a kind of jobs for the operator. */
export interface JobKindInfo {
  about: string
  /** The effect of dropping a dead job; with `isRefused`, the reason for which it must be retried instead. */
  dropping: string
  isRefused: boolean
}

const may = (about: string, dropping: string): JobKindInfo => ({
  about,
  dropping,
  isRefused: false,
})
const mayNot = (about: string, why: string): JobKindInfo => ({
  about,
  dropping: `Refused: ${why}`,
  isRefused: true,
})

const leavesRows = 'nothing else would ever remove these rows. Retry it.'
const onlyOnce = 'an update of the server requests it once. Retry it.'
const endsSchedule = 'it would not run again before the next start of the server. Retry it.'

/** All kinds of jobs; a test compares them with those that the slices have. */
const kinds: Readonly<Record<string, JobKindInfo>> = {
  'usage.record': mayNot(
    'Stores once an hour what workspaces and bots have, such as bytes of files.',
    endsSchedule,
  ),
  'usage.purge': mayNot('Removes what is stored of the usage of a deleted workspace.', leavesRows),
  'workspaces.leftovers': mayNot(
    'Deletes what was created in a workspace after its deletion, which earlier versions allowed.',
    onlyOnce,
  ),
  'bots.purge': mayNot('Removes what a deleted bot leaves behind.', leavesRows),
  'bots.register': may(
    'Calls a bot that has a new address, so that it registers what it needs.',
    'The bot is not called. Its next change calls it again.',
  ),
  'chat.removeFiles': mayNot(
    'Deletes the files that chat users sent in conversations that are deleted.',
    'the files would stay. Retry it.',
  ),
  'bot-logs.move': mayNot(
    'Moves the lines of the log of a bot after it to another workspace.',
    'the lines would be missing in the logs of that workspace. Retry it.',
  ),
  'deliveries.move': mayNot(
    'Moves the attempts at deliveries of a bot after it to another workspace.',
    'the attempts would be missing in the logs of that workspace. Retry it.',
  ),
  'deliveries.replay': may(
    'Replays many deliveries.',
    'The replay stays failed. What it has replayed stays so.',
  ),
  'events.missed': may(
    'Sends the events of the last hour to a bot that has got an address.',
    'The bot does not get the rest of these events.',
  ),
  'events.recur': mayNot(
    'Fires a recurring event of a bot.',
    'the event would not recur until the bot declares it again. Retry it.',
  ),
  'events.release': may(
    'Sends a scheduled event when its time has come.',
    'The event stays scheduled and is never sent. Cancel it as well.',
  ),
  'mails.send': may(
    'Sends a mail: an invitation, or a link that sets a password.',
    'The mail is not sent. Its link can be made anew.',
  ),
  'sign-in.forgotten': may(
    'Mails a link that sets a password to the person who asked for one.',
    'No link is sent. The person can ask for another one.',
  ),
  'files.assemble': may(
    'Joins the parts of a resumable upload.',
    'The upload does not end. The file has to be uploaded again.',
  ),
  'files.direct': may(
    'Checks a file that was uploaded directly to the object store.',
    'The upload does not end. The file has to be uploaded again.',
  ),
  'files.expire': mayNot('Deletes expired files.', endsSchedule),
  'files.orphans': mayNot('Removes contents and uploads that nothing refers to.', endsSchedule),
  'files.sweep': mayNot(
    'Removes the contents of deleted files.',
    'the contents would use space until the next deletion. Retry it.',
  ),
  'integrations.purge': mayNot('Removes what a deleted integration leaves behind.', leavesRows),
  'integrations.register': may(
    'Calls an integration that was installed in a bot.',
    'The installation stays as it is. Install it again.',
  ),
  'integrations.register-again': may(
    'Calls an integration whose code was changed, for each of its installations.',
    'The installations stay as they are. The next change of the integration calls it again.',
  ),
  'integrations.unregister': may(
    'Notifies an integration that it was removed from a bot.',
    'The integration is not notified, and may keep what it set up.',
  ),
  'messages.empty': mayNot('Removes the messages of a deleted conversation.', leavesRows),
  'messages.release': may(
    'Writes a scheduled message when its time has come.',
    'The message is never written.',
  ),
  'search.clear': mayNot('Removes the passages of a deleted or replaced file.', leavesRows),
  'search.evaluation': may(
    'Asks the questions of an evaluation run.',
    'The run stays failed. Start another one.',
  ),
  'search.evaluation.removal': mayNot(
    'Removes what belonged to a deleted set of cases or run.',
    leavesRows,
  ),
  'search.index': may(
    'Reads a file, and makes it searchable.',
    'The file stays as it is, with the reason why indexing failed. Index it again with `reindexFile`.',
  ),
  'search.names': mayNot('Updates the search for names in passages of earlier versions.', onlyOnce),
  'search.vectors': may(
    'Makes the vectors of the passages of a bot.',
    'Passages without a vector are found by their words only, until the next start or the next passage of the bot.',
  ),
  'search.words': mayNot('Lists the words in passages of earlier versions.', onlyOnce),
  'analytics.count': mayNot(
    'Counts every night what happened in bots the day before.',
    endsSchedule,
  ),
  'server.backup': mayNot('Makes a backup of the server.', endsSchedule),
  'server.housekeeping': mayNot('Deletes hourly what was kept long enough.', endsSchedule),
  'states.expire': may(
    'Ends a state whose time is over.',
    'The state counts as expired, but its row stays until it is used next, and the bot is not notified before.',
  ),
  'workflows.timeout': may(
    'Ends a workflow that has taken too long.',
    'The workflow does not time out. Cancel it to end it.',
  ),
}

/** Jobs of another version of the server are not dropped, because nobody knows here what that means. */
export function infoOf(kind: string): JobKindInfo {
  return (
    kinds[kind] ?? mayNot('Unknown to this version of the server.', 'nobody knows what it is for.')
  )
}
