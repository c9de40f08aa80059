package permissions

import "strings"

// The keys of a Verdict's sentence. They are stable; {names} in the sentences
// are the keys of Verdict.Args.
const (
	KeyBadPath           = "bad_path"
	KeyBadOperand        = "bad_operand"
	KeyUnknownTool       = "unknown_tool"
	KeyToolOff           = "tool_off"
	KeyOwnState          = "own_state"
	KeyOwnStateCommand   = "own_state_command"
	KeyToolDenied        = "tool_denied"
	KeyReadonly          = "readonly"
	KeyRequireApproval   = "require_approval"
	KeyLevelFull         = "level_full"
	KeyAlwaysAsk         = "always_ask"
	KeyAllowAll          = "allow_all"
	KeyDefinitionChanged = "definition_changed"
	KeyAmbiguous         = "ambiguous"
	KeyAmbiguousWhy      = "ambiguous_why"
	KeyProtectedRead     = "protected_read"
	KeyProtectedWrite    = "protected_write"
	KeyHardLinks         = "hard_links"
	KeyToolAllowed       = "tool_allowed"
	KeyAutoApprove       = "auto_approve"
	KeyRemembered        = "remembered"
	KeyRememberedCommand = "remembered_command"
	KeyCovered           = "covered"
	KeyWorkspace         = "workspace"
	KeyNoPaths           = "no_paths"
	KeyUnmodelled        = "unmodelled"
	KeyUnmodelledWhy     = "unmodelled_why"
	KeyNotInstalled      = "not_installed"
	KeyCwdOutside        = "cwd_outside"
	KeyFlagBehind        = "flag_behind"
	KeyTooMany           = "too_many"
	KeyTreeNotCovered    = "tree_not_covered"
	KeyNotCovered        = "not_covered"
	KeyNothingAllows     = "nothing_allows"
)

// sentences are in English. Those of refusals also reach the model, so they say
// that a call was refused and never what would let it through.
var sentences = map[string]string{
	KeyBadPath:           `The path "{path}" cannot be used: {why}.`,
	KeyBadOperand:        `The command names a path that cannot be judged, "{path}": {why}.`,
	KeyUnknownTool:       `There is no tool "{tool}" in this session.`,
	KeyToolOff:           `The tool "{tool}" is off.`,
	KeyOwnState:          `"{path}" belongs to the companion itself, which no tool may touch.`,
	KeyOwnStateCommand:   `The command names files of the companion itself, which no tool may touch.`,
	KeyToolDenied:        `The user has denied the tool "{tool}".`,
	KeyReadonly:          `This agent may only read, and "{tool}" does more than that.`,
	KeyRequireApproval:   `The server "{server}" is set to ask before each call of this tool.`,
	KeyLevelFull:         `The agent's risk profile has the level "full".`,
	KeyAlwaysAsk:         `The agent's risk profile always asks for this tool.`,
	KeyAllowAll:          `The policy authorises everything.`,
	KeyDefinitionChanged: `The definition of this tool has changed since it was accepted.`,
	KeyAmbiguous:         `What this command does cannot be told from its text.`,
	KeyAmbiguousWhy:      `What this command does cannot be told from its text: {why}.`,
	KeyProtectedRead:     `"{path}" may hold secrets ({name}), so reading it always asks.`,
	KeyProtectedWrite:    `"{path}" may be run or obeyed later ({name}), so changing it always asks.`,
	KeyHardLinks:         `"{path}" has more than one name (hard links), so a change may show in another place.`,
	KeyToolAllowed:       `This tool is set to Allow.`,
	KeyAutoApprove:       `The agent's risk profile approves this tool.`,
	KeyRemembered:        `A person has allowed this tool.`,
	KeyRememberedCommand: `A person has allowed exactly this command in "{cwd}".`,
	KeyCovered:           `Every path is covered by {rule}.`,
	KeyWorkspace:         `Every path is in the session's own workspace.`,
	KeyNoPaths:           `The command touches no file.`,
	KeyUnmodelled:        `The rules cannot judge this command.`,
	KeyUnmodelledWhy:     `The rules cannot judge this command: {why}.`,
	KeyNotInstalled:      `"{program}" is in none of the system's program folders.`,
	KeyCwdOutside:        `The command would run in "{path}", which is outside the root and not covered by a rule.`,
	KeyFlagBehind:        `"{flag}" stands behind the names of files, where some systems take it for one more file; flags belong in front of them.`,
	KeyTooMany:           `There is too much below "{path}" to look at before the call.`,
	KeyTreeNotCovered:    `No {access} rule covers everything below "{path}".`,
	KeyNotCovered:        `No {access} rule covers "{path}".`,
	KeyNothingAllows:     `Nothing allows this tool without a question.`,
}

// refusalCodes are the codes of sentences that refuse under another key.
var refusalCodes = map[string]string{KeyOwnStateCommand: KeyOwnState}

// verdict builds a Verdict with its sentence. args are names and values in
// turn.
func verdict(d Decision, row int, key string, args ...string) *Verdict {
	v := &Verdict{Decision: d, Row: row, Key: key, Reason: sentences[key]}
	if len(args) > 0 {
		v.Args = make(map[string]string, len(args)/2)
	}
	for i := 0; i+1 < len(args); i += 2 {
		v.Args[args[i]] = args[i+1]
	}
	v.Reason = fill(v.Reason, v.Args)
	if d == Deny || d == Error {
		v.Code = key
		if c, ok := refusalCodes[key]; ok {
			v.Code = c
		}
	}
	return v
}

// fill puts arguments in the places of a sentence, which are written {name}.
func fill(sentence string, args map[string]string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(sentence, "{")
		name, after, closed := strings.Cut(rest, "}")
		value, known := args[name]
		switch {
		case !ok && out.Len() == 0:
			return sentence
		case !ok:
			out.WriteString(sentence)
			return out.String()
		case closed && known:
			out.WriteString(before)
			out.WriteString(value)
			sentence = after
		default:
			out.WriteString(before)
			out.WriteByte('{')
			sentence = rest
		}
	}
}

func (v *Verdict) by(rule string) *Verdict { v.Rule = rule; return v }

// once marks a question whose answer counts for this call only.
func (v *Verdict) once() *Verdict { v.OnceOnly = true; return v }
