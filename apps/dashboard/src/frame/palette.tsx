import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { everyBot, useScope } from '../api/address.js'
import { useBotSearch } from '../api/bot-names.js'
import { type Choice, ChoiceList } from '../ui/choice-list.js'
import { Dialog } from '../ui/dialog.js'
import { ShowMore } from '../ui/show-more.js'
import { useScreens } from './screens.js'

interface Target extends Choice {
  /** Of a bot, which is found by it too. */
  id?: string
  to: string
}

/** Screens of items by the prefix of their ids. */
const screensOfIds: Record<string, string> = {
  conv: 'conversations',
  delivery: 'deliveries',
  file: 'files',
  job: 'jobs',
}

/** Goes to a screen or a bot by its name, or to anything by its pasted id. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { workspaceId, botId } = useScope()
  const bot = botId ?? everyBot
  const [text, setText] = useState('')
  const words = text.trim()
  const navigate = useNavigate()
  const { screens } = useScreens()
  // The server looks among the names of all bots for the whole text, which finds one of many names that share a word,
  // and for the longest word; this page looks for the other words.
  const whole = useBotSearch(words)
  const longest = words.split(/\s+/).toSorted((a, b) => b.length - a.length)[0] ?? ''
  const ofWord = useBotSearch(longest)
  const bots = new Map([...whole.bots, ...ofWord.bots].map((each) => [each.id, each]))
  const found = [
    ...idTargets(words, `/${workspaceId}/${bot}`),
    ...screens.map(({ label, path }) => ({
      // The home of a bot is a screen as well as a bot.
      key: `screen ${path}`,
      label,
      hint: 'Screen',
      to: `/${workspaceId}/${bot}/${path}`,
    })),
    ...[...bots.values()].map(({ id, name }) => ({
      key: `bot ${id}`,
      id,
      label: name || id,
      hint: 'Bot',
      to: `/${workspaceId}/${id}/home`,
    })),
  ].filter(({ label, hint, id }: Target) => hint === 'Id' || id === words || isMatch(words, label))
  const isExact = ({ label }: Target) => label.toLowerCase() === words.toLowerCase()
  const targets = found.toSorted((a, b) => Number(isExact(b)) - Number(isExact(a)))
  return (
    <Dialog title="Go to" onClose={onClose}>
      <ChoiceList
        label="Screen, bot or id"
        text={text}
        change={setText}
        choices={targets}
        choose={({ to }) => {
          onClose()
          void navigate({ to })
        }}
        none={whole.query.isFetching || ofWord.query.isFetching ? undefined : 'Nothing matches.'}
      >
        <ShowMore query={whole.query} />
      </ChoiceList>
    </Dialog>
  )
}

function isMatch(words: string, label: string): boolean {
  const name = label.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.includes(word))
}

/** The page to which a pasted id leads. */
function idTargets(text: string, base: string): Target[] {
  const [prefix = ''] = text.split('_')
  const screen = screensOfIds[prefix]
  if (screen === undefined || !/^[a-z]+_\w{10,}$/.test(text)) return []
  return [{ key: text, label: text, hint: 'Id', to: `${base}/${screen}/${text}` }]
}
