import { botQuotaTypes } from '@botstead/contract'
import { useState } from 'react'
import { useAddressSearch, usePathTo } from '../../api/address.js'
import { useBot } from '../../api/bot.js'
import { useMay } from '../../api/role.js'
import { Button } from '../../ui/button.js'
import { CopyButton, Id } from '../../ui/copy.js'
import { InstallationStatus } from '../../ui/installation-status.js'
import { Detail, Facts } from '../../ui/page.js'
import { Unread } from '../../ui/states.js'
import { Status } from '../../ui/status.js'
import { Tabs } from '../../ui/tabs.js'
import { describeTags } from '../../ui/tags.js'
import { Time } from '../../ui/time.js'
import { noteFailure } from '../../ui/toasts.js'
import { botTypes } from '../../ui/usage/kinds.js'
import { UsageView } from '../../ui/usage/usage-view.js'
import { BotAccess } from './bot-access.js'
import { BotIssues } from './bot-issues.js'
import { BotKeys } from './bot-keys.js'
import { BotSettings } from './bot-settings.js'
import { BotVersions } from './bot-versions.js'
import { type Bot, useBotActions, useSetQuota } from './queries.js'
import { TalkToBot } from './talk-to-bot.js'
import { BotWebchatTab } from './webchat/webchat.js'

const tabs = [
  { id: 'overview', label: 'Overview', permission: 'bots:read' },
  { id: 'settings', label: 'Settings', permission: 'bots:write' },
  { id: 'webchat', label: 'Web chat', permission: 'bots:write' },
  { id: 'keys', label: 'Keys and secrets', permission: 'keys:read' },
  { id: 'access', label: 'Access', permission: 'bots:manage' },
  { id: 'issues', label: 'Issues', permission: 'logs:read' },
  { id: 'versions', label: 'Versions', permission: 'bots:read' },
  { id: 'usage', label: 'Usage', permission: 'bots:read' },
] as const

/** An open bot. */
export function BotDetail({ id }: { id: string }) {
  const pathTo = usePathTo()
  const may = useMay()
  const open = tabs.filter(({ permission }) => may(permission))
  const [search] = useAddressSearch()
  const tab = open.find((each) => each.id === search.tab)?.id ?? 'overview'
  const { data, error, refetch } = useBot(id)
  const bot = data?.bot
  return (
    <Detail
      title={bot?.name ?? id}
      back={pathTo('bots')}
      actions={bot && may('deliveries:write') && <Ping bot={bot} />}
    >
      <Tabs tabs={open} current={tab} />
      {bot === undefined ? (
        <Unread error={error} refetch={refetch} />
      ) : tab === 'settings' ? (
        <BotSettings bot={bot} />
      ) : tab === 'webchat' ? (
        <BotWebchatTab botId={bot.id} />
      ) : tab === 'keys' ? (
        <BotKeys bot={bot} />
      ) : tab === 'access' ? (
        <BotAccess botId={bot.id} />
      ) : tab === 'issues' ? (
        <BotIssues botId={bot.id} />
      ) : tab === 'versions' ? (
        <BotVersions botId={bot.id} />
      ) : tab === 'usage' ? (
        <BotUsage botId={bot.id} />
      ) : (
        <Overview bot={bot} />
      )}
    </Detail>
  )
}

/** Sends a test event and shows what the bot returned. */
function Ping({ bot }: { bot: Bot }) {
  const { ping } = useBotActions()
  const [isBusy, setBusy] = useState(false)
  const [result, setResult] = useState<Awaited<ReturnType<typeof ping>>>()
  const isReachable = bot.url !== undefined || bot.hosted
  return (
    <>
      {result !== undefined && (
        <span role="status" title={result.answer ?? result.error}>
          <Status kind={result.delivered ? 'done' : 'attention'}>
            {result.delivered
              ? `Reached in ${result.durationMs} ms`
              : (result.error ?? `Returned ${result.status}`)}
          </Status>
        </span>
      )}
      <Button
        isBusy={isBusy}
        disabled={!isReachable}
        title={isReachable ? 'Send a test event' : 'The bot has neither an address nor code'}
        onClick={() => {
          setBusy(true)
          ping(bot.id)
            .then(setResult, noteFailure)
            .finally(() => setBusy(false))
        }}
      >
        Ping
      </Button>
    </>
  )
}

function Overview({ bot }: { bot: Bot }) {
  const chats = Object.entries(bot.integrations).filter(([, { name }]) => name === 'chat')
  const installed = Object.entries(bot.integrations).filter(([, { name }]) => name !== 'chat')
  const chatAddress = chats[0]?.[1].webhookUrl
  return (
    <>
      <Facts
        facts={[
          ['Id', <Id key="id" id={bot.id} what="id of the bot" />],
          [
            'Address',
            bot.url !== undefined ? (
              <code key="url">{bot.url}</code>
            ) : bot.hosted ? (
              <Status key="url" kind="done">
                None: its code runs here
              </Status>
            ) : (
              <Status key="url" kind="waiting">
                None yet: deliveries wait
              </Status>
            ),
          ],
          ...chats.map(([alias, { webhookUrl }]): [string, React.ReactNode] => [
            `Chat address (${alias})`,
            <span key={alias}>
              <code>{webhookUrl}</code>
              <CopyButton text={webhookUrl} what="chat address" />
            </span>,
          ]),
          ...installed.map(
            ([alias, { name, version, status, statusReason }]): [string, React.ReactNode] => [
              `Integration ${alias}`,
              <span key={alias}>
                {name} {version} <InstallationStatus status={status} />
                {statusReason !== null && <div className="muted">{statusReason}</div>}
              </span>,
            ],
          ),
          ['Tags', describeTags(bot.tags) || 'none'],
          ['Created', <Time key="created" at={bot.createdAt} />],
          ['Changed', <Time key="updated" at={bot.updatedAt} />],
        ]}
      />
      {chatAddress !== undefined && <TalkToBot chatAddress={chatAddress} />}
    </>
  )
}

/** The usage of the bot, and its quotas. */
function BotUsage({ botId }: { botId: string }) {
  const setQuota = useSetQuota(botId)
  const mayManage = useMay()('bots:manage')
  return (
    <UsageView
      id={botId}
      types={botTypes}
      limited={botQuotaTypes}
      setQuota={mayManage ? setQuota : undefined}
    />
  )
}
