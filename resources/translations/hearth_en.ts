<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>hearth::ui::DeviceRow</name>
    <message numerus="yes">
        <source>%n threads</source>
        <translation>
            <numerusform>%n thread</numerusform>
            <numerusform>%n threads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hearth::ui::MainWindow</name>
    <message numerus="yes">
        <source>%n chats are here now</source>
        <translation>
            <numerusform>%n chat is here now</numerusform>
            <numerusform>%n chats are here now</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hearth::ui::Meter</name>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hearth::ui::ModelManager</name>
    <message numerus="yes">
        <source>%n layers</source>
        <translation>
            <numerusform>%n layer</numerusform>
            <numerusform>%n layers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 and %n more files</source>
        <translation>
            <numerusform>%1 and %n more file</numerusform>
            <numerusform>%1 and %n more files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hearth::ui::Welcome</name>
    <message numerus="yes">
        <source>✓ Processor: %n threads</source>
        <translation>
            <numerusform>✓ Processor: %n thread</numerusform>
            <numerusform>✓ Processor: %n threads</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n in your folders</source>
        <translation>
            <numerusform>%n in your folders</numerusform>
            <numerusform>%n in your folders</numerusform>
        </translation>
    </message>
</context>
</TS>
