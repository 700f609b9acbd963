"""Which properties each block, element and composition object has. Slack refuses any other.

As its pages and its own SDKs list them. What they leave open is in the table: better taken here
than refused wrongly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Table: TypeAlias = Mapping[str, frozenset[str]]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(common: str, rows: Mapping[str, str]) -> Table:
    return {kind: _names(f"{common} {names}") for kind, names in rows.items()}


_IMAGE = "alt_text image_url slack_file"

BLOCKS = _table(
    "type block_id",
    {
        "actions": "elements",
        "alert": "text level",
        "auth_provider": "accessory auth_url connected_context connected_identity description"
        " disconnect_url fallback icon_url is_connected name value",
        "call": "call call_id api_decoration_available",
        "card": "title subtitle body hero_image icon actions",
        "carousel": "elements",
        "container": "title rich_text_title subtitle child_blocks width icon is_collapsible"
        " default_collapsed has_header_divider",
        "context": "elements",
        "context_actions": "elements",
        "data_table": "caption rows page_size row_header_column_index",
        "divider": "",
        "header": "text",
        "image": f"{_IMAGE} title",
        "input": "label hint element optional dispatch_action",
        "markdown": "text",
        "plan": "title tasks",
        "rich_text": "elements",
        "section": "text fields accessory expand",
        "table": "rows column_settings",
        "task_card": "task_id title status details output sources",
        "video": "title title_url description author_name provider_name provider_icon_url"
        " alt_text video_url thumbnail_url",
    },
)

_FIELD = "confirm focus_on_load placeholder"
_TYPED = "dispatch_action_config focus_on_load placeholder initial_value"

ELEMENTS = _table(
    "type action_id",
    {
        "button": "text value url style confirm accessibility_label visible_to_user_ids"
        " agent_prompt agent_prompt_display",
        "icon_button": "icon text value confirm accessibility_label visible_to_user_ids",
        "feedback_buttons": "positive_button negative_button",
        "workflow_button": "text workflow style confirm accessibility_label",
        "overflow": "options confirm",
        "checkboxes": "options initial_options confirm focus_on_load",
        "radio_buttons": "options initial_option confirm focus_on_load",
        "datepicker": f"{_FIELD} initial_date",
        "timepicker": f"{_FIELD} initial_time timezone",
        "datetimepicker": "confirm focus_on_load initial_date_time",
        "static_select": f"{_FIELD} options option_groups initial_option",
        "external_select": f"{_FIELD} min_query_length initial_option",
        "users_select": f"{_FIELD} initial_user",
        "conversations_select": f"{_FIELD} initial_conversation default_to_current_conversation"
        " response_url_enabled filter",
        "channels_select": f"{_FIELD} initial_channel response_url_enabled",
        "multi_static_select": f"{_FIELD} options option_groups initial_options max_selected_items",
        "multi_external_select": f"{_FIELD} min_query_length initial_options max_selected_items",
        "multi_users_select": f"{_FIELD} initial_users max_selected_items",
        "multi_conversations_select": f"{_FIELD} initial_conversations max_selected_items"
        " default_to_current_conversation filter",
        "multi_channels_select": f"{_FIELD} initial_channels max_selected_items",
        "plain_text_input": f"{_TYPED} multiline min_length max_length",
        "number_input": f"{_TYPED} is_decimal_allowed min_value max_value",
        "email_text_input": _TYPED,
        "url_text_input": _TYPED,
        "rich_text_input": f"{_TYPED} min_lines max_lines",
        "file_input": "filetypes max_files",
    },
)

_STYLED = "style"

RICH_TEXT = _table(
    "type",
    {
        "rich_text_section": "elements",
        "rich_text_list": "elements style indent offset border",
        "rich_text_preformatted": "elements border language",
        "rich_text_quote": "elements border",
        "text": f"{_STYLED} text",
        "link": f"{_STYLED} url text unsafe",
        "user": f"{_STYLED} user_id",
        "usergroup": f"{_STYLED} usergroup_id",
        "channel": f"{_STYLED} channel_id",
        "team": f"{_STYLED} team_id",
        "emoji": f"{_STYLED} name unicode url skin_tone display_url display_team_id",
        "date": f"{_STYLED} timestamp format url fallback",
        "broadcast": f"{_STYLED} range",
        "color": f"{_STYLED} value",
    },
)

OBJECTS = _table(
    "",
    {
        "plain_text": "type text emoji",
        "mrkdwn": "type text verbatim",
        "image": f"type {_IMAGE}",
        "option": "text value description url",
        "option_group": "label options",
        "confirm": "title text confirm deny style",
        "filter": "include exclude_external_shared_channels exclude_bot_users",
        "dispatch_action_config": "trigger_actions_on",
        "feedback_button": "text value accessibility_label",
        "raw_text": "type text",
        "raw_number": "type text value",
        "column_setting": "align is_wrapped",
        "url_source": "type url text",
    },
)

_VIEW = "type blocks callback_id private_metadata external_id"

VIEWS = _table(
    _VIEW,
    {"modal": "title submit close clear_on_close notify_on_close submit_disabled", "home": ""},
)

#: True or false, wherever they stand.
FLAGS = _names(
    "api_decoration_available clear_on_close default_collapsed default_to_current_conversation"
    " dispatch_action emoji exclude_bot_users exclude_external_shared_channels expand focus_on_load"
    " has_header_divider is_collapsible is_connected is_decimal_allowed is_wrapped multiline"
    " notify_on_close optional response_url_enabled submit_disabled verbatim"
)
