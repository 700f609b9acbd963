"""The shortcut in a message's menu: an agent is asked about what somebody said."""
