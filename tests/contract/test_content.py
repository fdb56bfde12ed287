"""What stands in for content that a revision lacks says at least as much."""

from mcp_contract import audio_as_resource, link_as_text, without


def test_audio_becomes_a_text_that_names_type_and_size_and_a_resource_with_the_bytes() -> None:
    text, resource = audio_as_resource({"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"})
    assert text["type"] == "text"
    assert "audio/wav" in text["text"]
    assert "5 bytes" in text["text"]
    assert resource["type"] == "resource"
    assert resource["resource"]["blob"] == "aGVsbG8="
    assert resource["resource"]["mimeType"] == "audio/wav"
    assert resource["resource"]["uri"].startswith("ni:///sha-256;")


def test_a_link_becomes_a_text_that_names_title_uri_and_description() -> None:
    block = link_as_text(
        {
            "type": "resource_link",
            "uri": "mx://note",
            "name": "n",
            "title": "The note",
            "description": "About it",
            "annotations": {"priority": 1},
        }
    )
    assert block["type"] == "text"
    for words in ("The note", "mx://note", "About it"):
        assert words in block["text"]
    assert block["annotations"] == {"priority": 1}


def test_a_link_without_a_title_is_named_by_its_name() -> None:
    assert link_as_text({"type": "resource_link", "uri": "mx://note", "name": "n"})["text"] == "n: mx://note"


def test_without_leaves_the_original_alone() -> None:
    tool = {"name": "a", "title": "A"}
    assert without(tool, "title") == {"name": "a"}
    assert tool == {"name": "a", "title": "A"}
    assert without(tool, "absent") is tool
