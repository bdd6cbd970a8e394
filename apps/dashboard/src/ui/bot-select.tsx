import { useState } from 'react'
import { useBotNames, useBotSearch } from '../api/bot-names.js'
import { SelectField, TextField } from './form.js'

interface BotSelectProps {
  botId: string
  onChange: (botId: string) => void
}

/** A field for a bot; where there are many, with one for a part of its name. */
export function BotSelect({ botId, onChange }: BotSelectProps) {
  const { hasMore, nameOf } = useBotNames()
  const [text, setText] = useState('')
  const { data } = useBotSearch(text.trim())
  const found = data?.bots ?? []
  const isFound = botId === '' || found.some(({ id }) => id === botId)
  return (
    <>
      {hasMore && (
        <TextField
          label="Name of the bot"
          hint="Part of the name; the list below shows the newest bots that contain it."
          maxLength={200}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <SelectField
        label="Bot"
        options={[
          ...(isFound ? [] : [{ value: botId, label: nameOf(botId) }]),
          ...found.map(({ id, name }) => ({ value: id, label: name || id })),
        ]}
        value={botId}
        onChange={({ target }) => onChange(target.value)}
      />
    </>
  )
}
